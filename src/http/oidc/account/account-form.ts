import { Elysia } from 'elysia'

import type { AppContext } from '#context'
import { hasCsrfToken } from '#http/oidc/csrf.ts'
import { readForm } from '#http/oidc/form-body.ts'
import { EXPIRED_FORM, NO_ERRORS, formErrorsOf } from '#http/oidc/pages/form-errors.ts'
import {
  EMPTY_FORM,
  type FormPage,
  type FormState,
  formPage,
  linkLine,
} from '#http/oidc/pages/form.ts'
import type { Html } from '#http/oidc/pages/html.ts'
import { PoolPath } from '#http/path-params.ts'
import { OWNER_PROOF, type RouteEffects, provenBy } from '#http/plugins/effects.ts'
import { pages } from '#http/plugins/pages.ts'
import type { AccountPage } from '#identity/pools/client.ts'
import type { ProofAction } from '#identity/proof-action.ts'
import { t } from '#languages/message.ts'

import { type AccountRequest, ownerOnly, pathTo } from './account-request.ts'
import {
  NO_PROOF,
  type ProofParts,
  SEND_PROOF_CODE,
  proofParts,
  proofSubject,
  readProof,
} from './proof-form.ts'

export const ACCOUNT_GATE = {
  open: 'A page of the account that this browser is signed in to; any other is led to the sign-in',
}

interface AccountFormState extends FormState {
  readonly proof: ProofParts
}

/** One page of the account with one form. */
interface AccountForm {
  readonly page: AccountPage
  /** What it does to the account, for which its sender proves to be the owner in the same form. `none` where it moves nothing. */
  readonly proof: ProofAction | 'none'
  show(account: AccountRequest, form: AccountFormState): Promise<Response> | Response
  /** The owner has proven to be there. Rejects with an `AppError` that the form shows, or with another error. */
  submit(account: AccountRequest, fields: URLSearchParams): Promise<Response>
}

/** GET and POST of one page. */
export const accountFormRoutes = (context: AppContext, form: AccountForm) => {
  const { page } = form
  const forOwner = ownerOnly(context)
  const prefix: string = `/oidc/:userPoolId/${page}`
  return new Elysia({ prefix })
    .use(pages(context))
    .get(
      '/',
      forOwner(page, (account) => shown(context, form, account, EMPTY_FORM)),
      { poolPage: ACCOUNT_GATE, params: PoolPath },
    )
    .post(
      '/',
      forOwner(page, (account) => submitted(context, form, account)),
      {
        poolPage: ACCOUNT_GATE,
        changes: { audit: 'page', effects: effectsOf(form) },
        params: PoolPath,
      },
    )
}

function effectsOf({ proof }: AccountForm): RouteEffects {
  if (proof === 'none') return []
  return provenBy(OWNER_PROOF, [proof === 'deletion' ? 'deletesPeople' : 'movesAccount'])
}

async function shown(
  context: AppContext,
  form: AccountForm,
  account: AccountRequest,
  { notice, ...state }: FormState & Pick<ProofParts, 'notice'>,
): Promise<Response> {
  const parts = form.proof === 'none' ? NO_PROOF : await proofParts(context, account, form.proof)
  return form.show(account, { ...state, proof: { ...parts, ...(notice && { notice }) } })
}

async function submitted(
  context: AppContext,
  form: AccountForm,
  account: AccountRequest,
): Promise<Response> {
  const typed = await readForm(account.request)
  if (!hasCsrfToken(account.csrf, typed)) {
    return shown(context, form, account, { typed, errors: EXPIRED_FORM })
  }
  try {
    return await proven(context, form, account, typed)
  } catch (error) {
    return shown(context, form, account, { typed, errors: formErrorsOf(error) })
  }
}

async function proven(
  context: AppContext,
  form: AccountForm,
  account: AccountRequest,
  fields: URLSearchParams,
): Promise<Response> {
  if (form.proof === 'none') return form.submit(account, fields)
  const subject = proofSubject(account, form.proof)
  if (fields.get('action') === SEND_PROOF_CODE) {
    const { email } = await context.proofs.mailCode(account, subject)
    const notice = t('proof.code-sent', { email })
    return shown(context, form, account, { typed: fields, errors: NO_ERRORS, notice })
  }
  return context.proofs.run(account, subject, readProof(fields), () => form.submit(account, fields))
}

/** Under a form, for users who do not want to send it. */
const backLine = ({ pool }: AccountRequest): Html =>
  linkLine(t('account.changed-mind'), pathTo(pool, 'account'), t('account.back'))

/** A page with a form that only this browser can send, and only its account's owner where it moves the account. */
export const accountFormPage = (
  request: AccountRequest,
  page: AccountPage,
  { errors, proof }: Pick<AccountFormState, 'errors' | 'proof'>,
  parts: Pick<
    FormPage,
    | 'title'
    | 'lead'
    | 'fields'
    | 'submit'
    | 'hidden'
    | 'instead'
    | 'after'
    | 'formTargets'
    | 'passkey'
  >,
): Response => {
  const { site, pool, csrf, language } = request
  return formPage({
    site,
    language,
    csrfToken: csrf.token,
    cookies: csrf.cookies,
    action: pathTo(pool, page),
    more: backLine(request),
    ...parts,
    ...proof,
    ...(isNamed(parts.fields) && { account: undefined }),
    errors,
    fields: [...parts.fields, ...proof.fields],
    hidden: { ...parts.hidden, ...proof.hidden },
  })
}

/** A form sends one `username`. */
const isNamed = (fields: FormPage['fields']): boolean =>
  fields.some(({ name }) => name === 'username')
