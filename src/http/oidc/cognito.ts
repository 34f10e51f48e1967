import { Elysia } from 'elysia'

import { AppError } from '#base/app-error.ts'
import { isNestedDeeper } from '#base/json-depth.ts'
import type { AppContext } from '#context'
import { readText } from '#http/bodies/read-body.ts'
import { textBody } from '#http/bodies/request-body.ts'
import { PoolPath } from '#http/path-params.ts'
import { provenBy } from '#http/plugins/effects.ts'
import { publicSite } from '#http/plugins/site.ts'
import { originOf } from '#http/request-origin.ts'
import { scopeOf } from '#http/request-scope.ts'
import { requirePoolHost } from '#http/site-hosts.ts'
import { CognitoError } from '#identity/cognito/api/cognito-error.ts'
import { cognitoErrorOf } from '#identity/cognito/api/error-table.ts'
import type { Pool } from '#identity/pools/model.ts'
import { bodyTooLarge } from '#runtime/calls/request-body.ts'
import type { SiteEntry } from '#sites/site-directory.ts'

const CONTENT_TYPE = 'application/x-amz-json-1.1'
const BODY = textBody()
const MAX_BODY_BYTES = 64 * 1024
const LIMIT = { limitBytes: MAX_BODY_BYTES, tooLong: () => bodyTooLarge(MAX_BODY_BYTES) }
const MAX_DEPTH = 32
const UNREAD: ReadonlySet<string> = new Set([
  'PayloadTooLarge',
  'UnsupportedMediaType',
  'MisdirectedRequest',
])

/** Cognito's JSON API at the issuer: one path, the operation in `X-Amz-Target`, responses and errors in Cognito's form. */
export const cognitoRoutes = (context: AppContext) =>
  new Elysia({ prefix: '/oidc/:userPoolId' }).use(publicSite(context)).post(
    '/',
    async ({ site, params, request }) => {
      try {
        return answer(request, 200, await called(context, site, params.userPoolId, request))
      } catch (error) {
        // The rest of the body is not read: the common error handler also closes the connection.
        if (error instanceof AppError && UNREAD.has(error.code)) throw error
        return refusal(request, cognitoErrorOf(error, '') ?? unexpected(context, request, error))
      }
    },
    {
      open: 'Sign-in for programs written for Cognito, on clients that the operator lets use it',
      changes: {
        audit: 'page',
        effects: provenBy('what each operation asks for', ['movesAccount?', 'deletesPeople?']),
      },
      requestBody: BODY,
      params: PoolPath,
    },
  )

async function called(
  { cognitoApi, pools, config }: AppContext,
  site: SiteEntry,
  userPoolId: string,
  request: Request,
): Promise<object> {
  const pool = await pools.at(site, userPoolId)
  requirePoolHost(site, pool, scopeOf(request).path, config.baseUrl)
  if (!isAmazonJson(request)) {
    throw new CognitoError('SerializationException', `Send the body as "${CONTENT_TYPE}"`)
  }
  const body = checkDepth(await readText(request, BODY, LIMIT))
  const target = request.headers.get('x-amz-target') ?? ''
  return cognitoApi.call(
    { site, pool: forPagesOfSite(pool), origin: originOf(request) },
    target,
    body,
  )
}

/** What calls the API asks for passkeys on its own pages, which are the site's. */
const forPagesOfSite = (pool: Pool): Pool => ({
  ...pool,
  passkeyOrigins: [pool.apiOrigin, ...pool.passkeyOrigins],
})

/** Cognito's requests have a few levels only. */
function checkDepth(text: string): string {
  if (!isNestedDeeper(text, MAX_DEPTH)) return text
  throw new CognitoError('SerializationException', 'The request body is nested too deep')
}

const isAmazonJson = (request: Request): boolean =>
  request.headers.get('content-type')?.split(';')[0]?.trim().toLowerCase() === CONTENT_TYPE

/** Logs an internal error, whose cause the client must not see. */
function unexpected({ logger }: AppContext, request: Request, err: unknown): CognitoError {
  const { requestId, host, path } = scopeOf(request)
  logger.error({ err, requestId, host, path }, 'request failed')
  return new CognitoError('InternalErrorException', 'Something went wrong on our side')
}

function refusal(request: Request, { type, message, retryAfterSeconds }: CognitoError): Response {
  const status = type === 'InternalErrorException' ? 500 : 400
  const response = answer(request, status, { __type: type, message })
  response.headers.set('x-amzn-errortype', `${type}:`)
  if (retryAfterSeconds !== undefined) {
    response.headers.set('retry-after', String(Math.max(1, Math.ceil(retryAfterSeconds))))
  }
  return response
}

const answer = (request: Request, status: number, body: object): Response =>
  new Response(JSON.stringify(body), {
    status,
    headers: {
      'content-type': CONTENT_TYPE,
      'cache-control': 'no-store',
      'x-amzn-requestid': scopeOf(request).requestId,
    },
  })
