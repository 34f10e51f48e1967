import { createHmac, randomBytes } from 'node:crypto'

import { isSameText } from '#base/same-text.ts'
import type { GatedRequest } from '#http/plugins/pages.ts'

import { type CookieScope, cookieOf, setCookie } from './cookies.ts'

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
  request: GatedRequest,
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
