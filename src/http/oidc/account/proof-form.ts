import type { AppContext } from '#context'
import type { Field } from '#http/oidc/pages/field.ts'
import type { FormPage } from '#http/oidc/pages/form.ts'
import type { ProofAction } from '#identity/proof-action.ts'
import type { Proof, ProofSubject } from '#identity/proofs/model.ts'
import { type LocalizedText, t } from '#languages/message.ts'

import type { AccountRequest } from './account-request.ts'

/** The second button of a form that takes a mailed code. */
export const SEND_PROOF_CODE = 'send-proof-code'
const CHALLENGE_FIELD = 'passkeyChallenge'

/** What a form contains to prove its sender: the password, a passkey, or a mailed code where the account has neither. */
export type ProofParts = Pick<FormPage, 'account' | 'again' | 'passkeyProof'> & {
  readonly fields: readonly Field[]
  readonly hidden: Readonly<Record<string, string>>
  /** After a code was mailed. */
  readonly notice?: LocalizedText
}

/** For a form that moves nothing. */
export const NO_PROOF: ProofParts = { fields: [], hidden: {} }

export const proofSubject = ({ session }: AccountRequest, action: ProofAction): ProofSubject => ({
  sub: session.sub,
  signIn: session.sessionId,
  action,
})

export async function proofParts(
  { proofs }: AppContext,
  request: AccountRequest,
  action: ProofAction,
): Promise<ProofParts> {
  const subject = proofSubject(request, action)
  const { email, password, passkey } = await proofs.methods(request, subject.sub)
  if (!password && !passkey) return mailedCode(email)
  const { options, challenge } = proofs.passkeyRequest(request, subject)
  return {
    fields: password ? [CURRENT_PASSWORD] : [],
    hidden: passkey ? { passkey: '', [CHALLENGE_FIELD]: challenge } : {},
    ...(password && { account: email }),
    ...(passkey && { passkeyProof: { options, isOnlyWay: !password } }),
  }
}

const CURRENT_PASSWORD: Field = {
  name: 'currentPassword',
  label: t('field.current-password'),
  type: 'password',
  autocomplete: 'current-password',
}

const mailedCode = (email: string): ProofParts => ({
  fields: [
    {
      name: 'proofCode',
      label: t('field.code'),
      type: 'text',
      autocomplete: 'one-time-code',
      kind: 'code',
      hint: t('proof.code-hint', { email }),
    },
  ],
  hidden: {},
  again: { value: SEND_PROOF_CODE, label: t('proof.send-code'), words: t('proof.no-code') },
})

export function readProof(fields: URLSearchParams): Proof {
  const credential = fields.get('passkey') ?? ''
  return {
    currentPassword: fields.get('currentPassword') ?? '',
    proofCode: fields.get('proofCode') ?? '',
    ...(credential !== '' && {
      passkey: { credential, challenge: fields.get(CHALLENGE_FIELD) ?? '' },
    }),
  }
}
