import type { AppContext } from '#context'
import type { FormState } from '#http/oidc/pages/form.ts'
import type { Html } from '#http/oidc/pages/html.ts'
import { seeOther } from '#http/oidc/see-other.ts'
import { type InteractionRequest, signInFormRoutes, startSession } from '#http/oidc/sign-in-form.ts'
import { passkeyRequestOptions } from '#identity/passkeys/options.ts'
import { t } from '#languages/message.ts'

import type { PasskeyChallenges } from './challenges.ts'
import { CHALLENGE_FIELD, CREDENTIAL_FIELD, passkeyForm } from './form.ts'

/** The button that signs in with a passkey, for the page of the password. */
export function passkeyButton(
  challenges: PasskeyChallenges,
  interaction: InteractionRequest,
  { errors }: Pick<FormState, 'errors'>,
): Html {
  const { pool, csrf, pathTo } = interaction
  const { challenge, sealed } = challenges.create({ pool, csrf })
  return passkeyForm({
    action: pathTo('passkey'),
    csrfToken: csrf.token,
    sealed,
    kind: 'get',
    label: t('sign-in.passkey'),
    plain: true,
    // One that was refused would be offered again, and again.
    offered: errors.status === 200,
    options: passkeyRequestOptions(pool, challenge),
  })
}

/** Takes what the device has signed. `show` is the page of the password, which says what went wrong. */
export const passkeyRoutes = (
  context: AppContext,
  challenges: PasskeyChallenges,
  show: (interaction: InteractionRequest, form: FormState) => Response,
) =>
  signInFormRoutes(context, {
    name: 'passkey',
    open: 'Where the button for passkeys of the sign-in page leads',
    effects: [],
    show: (interaction, form) =>
      form.errors.status === 200
        ? seeOther(interaction.pathTo('login'), interaction.csrf.cookies)
        : show(interaction, form),
    async submit(interaction, fields) {
      const { pool, csrf } = interaction
      const authTime = context.clock.now()
      const { sub } = await context.passkeys.authenticate(interaction, {
        credential: fields.get(CREDENTIAL_FIELD) ?? '',
        challenge: challenges.open({ pool, csrf }, fields.get(CHALLENGE_FIELD)),
      })
      const account = { sub, authTime, method: 'passkey' } as const
      const { location, cookies } = await startSession(context, interaction, account)
      return seeOther(location, cookies)
    },
  })
