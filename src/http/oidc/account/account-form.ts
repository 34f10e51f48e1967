import { Elysia } from 'elysia'

import type { AppContext } from '#context'
import { hasCsrfToken } from '#http/oidc/csrf.ts'
import { readForm } from '#http/oidc/form-body.ts'
import { EXPIRED_FORM, formErrorsOf } from '#http/oidc/pages/form-errors.ts'
import {
  EMPTY_FORM,
  type FormPage,
  type FormState,
  formPage,
  linkLine,
} from '#http/oidc/pages/form.ts'
import type { Html } from '#http/oidc/pages/html.ts'
import { PoolPath } from '#http/path-params.ts'
import { pages } from '#http/plugins/pages.ts'
import type { AccountPage } from '#identity/pools/client.ts'
import { say } from '#languages/message.ts'

import { type AccountRequest, ownerOnly, pathTo } from './account-request.ts'

export const ACCOUNT_GATE = {
  open: 'A page of the account that this browser is signed in to; any other is led to the sign-in',
}

/** One page of the account with one form. */
interface AccountForm {
  readonly page: AccountPage
  /** Whether it takes a sign-in of the last 15 minutes. */
  readonly recent: boolean
  show(account: AccountRequest, form: FormState): Promise<Response> | Response
  /** Rejects with an `AppError` that the form shows, or with another error. */
  submit(account: AccountRequest, fields: URLSearchParams): Promise<Response>
}

/** GET and POST of one page. */
export const accountFormRoutes = (context: AppContext, form: AccountForm) => {
  const { page, recent } = form
  const forOwner = ownerOnly(context)
  const prefix: string = `/oidc/:userPoolId/${page}`
  return new Elysia({ prefix })
    .use(pages(context))
    .get(
      '/',
      forOwner(page, { recent }, (account) => form.show(account, EMPTY_FORM)),
      { poolPage: ACCOUNT_GATE, params: PoolPath },
    )
    .post(
      '/',
      forOwner(page, { recent }, (account) => submitted(form, account)),
      { poolPage: ACCOUNT_GATE, params: PoolPath },
    )
}

async function submitted(form: AccountForm, account: AccountRequest): Promise<Response> {
  const fields = await readForm(account.request)
  if (!hasCsrfToken(account.csrf, fields)) {
    return form.show(account, { typed: fields, errors: EXPIRED_FORM })
  }
  try {
    return await form.submit(account, fields)
  } catch (error) {
    return form.show(account, { typed: fields, errors: formErrorsOf(error) })
  }
}

/** Under a form, for who does not want to send it. */
export const backLine = ({ pool }: AccountRequest): Html =>
  linkLine(say('account.changed-mind'), pathTo(pool, 'account'), say('account.back'))

/** A page with a form that only this browser can send. */
export const accountFormPage = (
  { site, pool, csrf, language }: AccountRequest,
  page: AccountPage,
  parts: Omit<FormPage, 'language' | 'site' | 'csrfToken' | 'cookies' | 'action'>,
): Response =>
  formPage({
    site,
    language,
    csrfToken: csrf.token,
    cookies: csrf.cookies,
    action: pathTo(pool, page),
    ...parts,
  })
