import { createHash } from 'node:crypto'

import type { AppContext } from '#context'
import type { GatedRequest, PoolPageRequest } from '#http/plugins/pages.ts'
import type { KnownDevice } from '#identity/pool-request.ts'
import type { Pool } from '#identity/pools/model.ts'
import { KnownDeviceCookie } from '#identity/rate-limits/known-device-cookie.ts'

import { cookieOf, poolScope, setCookie } from './cookies.ts'
import type { CsrfSession } from './csrf.ts'

const COOKIE = 'croft_known'

/** What the pages know of the browser that comes, and what they give it to keep. */
export class KnownDevices {
  readonly #known: KnownDeviceCookie

  constructor({ sealer, clock }: Pick<AppContext, 'sealer' | 'clock'>) {
    this.#known = new KnownDeviceCookie({ key: sealer.derive('known-browsers'), clock })
  }

  of({ pool, request }: Pick<PoolPageRequest, 'pool' | 'request'>, csrf: CsrfSession): KnownDevice {
    const cookie = cookieOf(request, COOKIE, poolScope(pool))
    return {
      id: createHash('sha256').update(`browser ${csrf.secret}`).digest('base64url'),
      knownAs: (email) => this.#known.idOf(cookie, pool.issuer, email),
    }
  }

  /** The `Set-Cookie` for a browser in which an account has just signed in; it stays when that signs out. */
  remembered(request: GatedRequest, pool: Pool, email: string): string {
    const scope = poolScope(pool)
    const held = cookieOf(request, COOKIE, scope)
    const { cookie, expiresAt } = this.#known.remember(held, pool.issuer, email)
    return setCookie(COOKIE, cookie, { ...scope, expiresAt })
  }
}
