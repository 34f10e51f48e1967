import { createHmac, randomBytes, timingSafeEqual } from 'node:crypto'

import { AppError } from '#base/app-error.ts'

import { type CookieScope, cookieOf, setCookie } from './cookies.ts'
import { readForm } from './form-body.ts'

/** The hidden field of every form. */
export const CSRF_FIELD = '_csrf'
const COOKIE = 'croft_form'
const SECRET = /^[\w-]{43}$/

/** A browser that fills in forms: a secret in its cookie, and the token in its forms that only we can make of it. */
export interface CsrfSession {
  readonly token: string
  /** Names the browser among others, as long as it keeps its cookie. */
  readonly secret: string
  /** `Set-Cookie` for a browser that comes for the first time. */
  readonly cookies: readonly string[]
}

/**
 * The visitor of the forms under one address. Signed, because a neighbouring domain can set a cookie of its own choice,
 * but cannot make the token for it; bound to the address, so that no pool's forms are good at another's.
 */
export function csrfSession(
  key: Uint8Array,
  request: Request,
  address: string,
  scope: CookieScope,
): CsrfSession {
  const sent = cookieOf(request, COOKIE, scope)
  const known = sent !== undefined && SECRET.test(sent)
  const secret = known ? sent : randomBytes(32).toString('base64url')
  return {
    token: createHmac('sha256', key).update(`${address}\n${secret}`).digest('base64url'),
    secret,
    cookies: known ? [] : [setCookie(COOKIE, secret, scope)],
  }
}

/** Whether the form was ours, on this very browser. */
export function hasCsrfToken(session: CsrfSession, fields: URLSearchParams): boolean {
  const sent = Buffer.from(fields.get(CSRF_FIELD) ?? '')
  const expected = Buffer.from(session.token)
  return sent.length === expected.length && timingSafeEqual(sent, expected)
}

/** The fields of a form. 403 when the browser says that another site sent it; one that says nothing has only its token. */
export function readSameOriginForm(request: Request, origin: string): Promise<URLSearchParams> {
  const site = request.headers.get('sec-fetch-site')
  const sender = request.headers.get('origin')
  const foreign =
    site === null ? sender !== null && sender !== origin : !['same-origin', 'none'].includes(site)
  if (foreign) throw new AppError('Forbidden', 'This form was sent from another site')
  return readForm(request)
}
