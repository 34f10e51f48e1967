import { Elysia } from 'elysia'

import { AppError } from '#base/app-error.ts'
import { requestBodyDetail, uploadBody } from '#http/bodies/request-body.ts'
import { authority } from '#http/plugins/authority.ts'
import { changesDetail } from '#http/plugins/changes.ts'
import type { ObjectStore } from '#platform/objects/object-store.ts'
import type { ObjectUrls, OpenedUrl, UrlGrant } from '#platform/objects/object-urls.ts'

import { downloadObject } from './download.ts'
import { type Uploads, uploadObject } from './upload.ts'

export interface ObjectRoutesDeps {
  readonly objects: Pick<ObjectStore, 'get' | 'blob' | 'head' | 'put'>
  readonly uploads: Uploads
  readonly urls: Pick<ObjectUrls, 'open'>
  /** The site of the host that was asked; throws `SiteNotFound`. */
  readonly siteIdOf: (request: Request) => Promise<string>
}

const BODY = uploadBody()

/** On every response, errors too. The signature is the authority, wherever the page comes from; no credentials travel. */
export const OBJECT_CORS = {
  'access-control-allow-origin': '*',
  'access-control-expose-headers':
    'accept-ranges, content-disposition, content-length, content-range, etag, last-modified, retry-after, x-request-id',
}
const PREFLIGHT = {
  ...OBJECT_CORS,
  'access-control-allow-methods': 'GET, HEAD, PUT',
  // Conditions that an upload does not serve are named too: a page reads 501, not a network error.
  'access-control-allow-headers':
    'content-type, range, if-none-match, if-match, if-modified-since, if-unmodified-since, if-range',
  'access-control-max-age': '600',
}

/** Where the URLs that the service signs itself lead, on every site's own host. */
export const objectRoutes = (deps: ObjectRoutesDeps) => {
  const grantOf = (request: Request) => openedGrant(deps, request)
  const send = async (request: Request): Promise<Response> =>
    opened(await downloadObject(deps.objects, await grantOf(request), request))
  const detail = authority('signed-url')
  return (
    new Elysia({ prefix: '/objects' })
      .get('/:key', ({ request }) => send(request), { detail })
      .head('/:key', ({ request }) => send(request), { detail })
      // `none`: the body is stored as it comes, whatever its type says.
      .put(
        '/:key',
        async ({ request }) => {
          BODY.checkDeclaredLength(request)
          return opened(await uploadObject(deps, await grantOf(request), request))
        },
        {
          detail: {
            ...detail,
            ...requestBodyDetail(BODY),
            ...changesDetail({ audit: 'content', effects: [] }),
          },
          parse: 'none',
        },
      )
      .options('/:key', () => new Response(null, { status: 204, headers: PREFLIGHT }), { detail })
  )
}

/** What the URL of a request grants. The site of the key must be the site of the host. */
async function openedGrant(
  { urls, siteIdOf }: ObjectRoutesDeps,
  request: Request,
): Promise<UrlGrant> {
  const url = new URL(request.url)
  const encodedKey = url.pathname.slice(url.pathname.lastIndexOf('/') + 1)
  const siteId = await siteIdOf(request)
  const answer = urls.open({ encodedKey, method: request.method, siteId }, url.searchParams)
  if ('refused' in answer) throw new AppError('Forbidden', REFUSALS[answer.refused])
  return answer.grant
}

const REFUSALS = {
  expired: 'The signed URL has expired: ask for a new one',
  forged: 'The signature does not fit this URL: use it exactly as it was given',
  otherSite: 'The signed URL belongs to another host: use it exactly as it was given',
  otherMethod: 'The signed URL was made for another method',
} as const satisfies Record<Extract<OpenedUrl, { refused: unknown }>['refused'], string>

function opened(response: Response): Response {
  for (const [name, value] of Object.entries(OBJECT_CORS)) response.headers.set(name, value)
  return response
}
