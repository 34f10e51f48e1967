import type { RequestOrigin } from '#base/request-origin.ts'

import { saidLanguageOf } from './request-language.ts'
import { scopeOf } from './request-scope.ts'

const MAX_USER_AGENT = 256

export function originOf(request: Request): RequestOrigin {
  const { peerAddress, requestId } = scopeOf(request)
  const userAgent = (request.headers.get('user-agent') ?? '').replaceAll(/[\p{Cc}\p{Cf}]/gu, '')
  return {
    address: peerAddress,
    userAgent: userAgent.slice(0, MAX_USER_AGENT),
    requestId,
    language: saidLanguageOf(request),
  }
}
