import { createHmac, randomBytes } from 'node:crypto'

import { AppError } from '#base/app-error.ts'
import { isSameText } from '#base/same-text.ts'
import { say } from '#languages/message.ts'

import { type CookieScope, cookieOf, setCookie } from './cookies.ts'
import { readForm } from './form-body.ts'

/** The hidden field of every form that carries the token. */
export const CSRF_FIELD = '_csrf'
const COOKIE = 'croft_form'
const SECRET = /^[\w-]{43}$/

/** A browser with a secret in its cookie, and the token of its forms, which is an HMAC of the secret. */
export interface CsrfSession {
  readonly token: string
  /** Identifies the browser as long as it keeps its cookie. */
  readonly secret: string
  /** `Set-Cookie` for a browser without the cookie. */
  readonly cookies: readonly string[]
}

/**
 * Reads the cookie, or makes a new secret. A neighbouring domain can set the cookie but cannot make the token for it. The
 * token depends on the address, so that a form of one pool is not valid at another.
 */
export function csrfSession(
  key: Uint8Array,
  request: Request,
  address: string,
  scope: CookieScope,
): CsrfSession {
  const sent = cookieOf(request, COOKIE, scope)
  const isValid = sent !== undefined && SECRET.test(sent)
  const secret = isValid ? sent : randomBytes(32).toString('base64url')
  return {
    token: createHmac('sha256', key).update(`${address}\n${secret}`).digest('base64url'),
    secret,
    cookies: isValid ? [] : [setCookie(COOKIE, secret, scope)],
  }
}

/** Whether the form was shown to this browser. */
export const hasCsrfToken = (session: CsrfSession, fields: URLSearchParams): boolean =>
  isSameText(fields.get(CSRF_FIELD) ?? '', session.token)

/** The fields of a form. 403 when the browser says that another site sent it; where it says nothing, the token decides. */
export function readSameOriginForm(request: Request, origin: string): Promise<URLSearchParams> {
  const site = request.headers.get('sec-fetch-site')
  const sender = request.headers.get('origin')
  const foreign =
    site === null ? sender !== null && sender !== origin : !['same-origin', 'none'].includes(site)
  if (foreign) throw new AppError('Forbidden', say('error.foreign-form'))
  return readForm(request)
}
