import { Type } from '@sinclair/typebox'
import { Elysia } from 'elysia'
import { LRUCache } from 'lru-cache'

import type { AppContext } from '#context'
import { ServedDocument } from '#http/openapi/served-document.ts'
import { publicSite } from '#http/plugins/site.ts'
import type { Visitor } from '#identity/visitor.ts'
import type { Site } from '#sites/site.ts'

import { siteDocument } from './site-document.ts'

const OPEN = 'Strangers are shown what is public; a token shows what its visitor may call'
/** Each has at most about a megabyte, most a few kilobytes. */
const MAX_KEPT = 32
/** Clients ask each time whether theirs is current. */
const REVALIDATED = 'private, no-cache'

const Document = Type.Unsafe<Response>(
  Type.Object({ openapi: Type.String() }, { additionalProperties: true }),
)

/** The site's own operations, for programs: of the current revision, from memory. No operation can have this name. */
export const dataDocumentRoutes = (context: AppContext) => {
  const kept = new LRUCache<string, ServedDocument>({ max: MAX_KEPT })
  return new Elysia({ prefix: '/data' })
    .use(publicSite(context))
    .get('/openapi.json', ({ site, request }) => documentFor(context, kept, { site, request }), {
      open: OPEN,
      summary: 'Get the OpenAPI document of what the caller may call',
      response: Document,
      responds: 'unmodified',
    })
}

async function documentFor(
  context: AppContext,
  kept: LRUCache<string, ServedDocument>,
  { site, request }: { readonly site: Site; readonly request: Request },
): Promise<Response> {
  const bearer = request.headers.get('authorization')
  const visitor = bearer === null ? null : await context.visitorTokens.verify(site, bearer)
  const callable = await context.operationCalls.callable(site, visitor)
  const { revision } = callable
  const key = JSON.stringify([site.siteId, revision, site.domain, rightsOf(visitor)])
  const document =
    kept.get(key) ??
    new ServedDocument(
      () =>
        siteDocument({
          domain: site.domain,
          revision,
          operations: callable.operations(),
          isVisitor: visitor !== null,
        }),
      REVALIDATED,
    )
  kept.set(key, document)
  return document.responseTo(request)
}

/** All that decides what a caller may call. */
const rightsOf = (visitor: Visitor | null): readonly unknown[] =>
  visitor === null
    ? []
    : [
        [...visitor.groups].toSorted(),
        visitor.scopes && [...visitor.scopes].toSorted(),
        visitor.isThirdParty,
      ]
