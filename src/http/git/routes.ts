import { Elysia, t } from 'elysia'

import type { Actor } from '#base/actor.ts'
import { AppError, invalid } from '#base/app-error.ts'
import type { AppContext } from '#context'
import { uploadStream } from '#http/bodies/read-body.ts'
import { uploadBody } from '#http/bodies/request-body.ts'
import { admission, authority, routeMacro } from '#http/plugins/authority.ts'
import { siteOf } from '#http/plugins/site.ts'
import { originOf } from '#http/request-origin.ts'
import type { DeployTokenScope } from '#identity/deploy-tokens/model.ts'
import type { RepositoryRequest } from '#sites/repository/site-repositories.ts'
import type { Site } from '#sites/site.ts'

import { REPOSITORY_PATH } from './repository-path.ts'

type Service = RepositoryRequest['service']

const SCOPES: readonly DeployTokenScope[] = ['deploy']

/** The site's repository, as git itself speaks over HTTP: clone, fetch and push, with a deploy token as the password. */
export const repositoryRoutes = (context: AppContext) =>
  new Elysia({ prefix: REPOSITORY_PATH })
    .use(repositoryAuth(context))
    .get(
      '/info/refs',
      async ({ request, query, site, by }) =>
        answer(context, site, {
          ...asked(request, serviceIn(query.service)),
          part: 'info/refs',
          by,
          body: null,
        }),
      { repository: true, query: t.Object({ service: t.Optional(t.String({ maxLength: 100 })) }) },
    )
    .post('/git-upload-pack', (call) => answerService(context, 'git-upload-pack', call), {
      repository: true,
      changes: { audit: 'query', effects: [] },
    })
    .post('/git-receive-pack', (call) => answerService(context, 'git-receive-pack', call), {
      repository: true,
      // A push to the site's branch deploys it, with the definition that it carries.
      changes: { audit: ['deployment.activated'], effects: ['setsSecret?'] },
    })

/** `repository: true` on a route: the caller holds a deploy token of the site. Any user name does. Adds `site` and `by`. */
const repositoryAuth = (context: AppContext) =>
  new Elysia().macro({
    ...routeMacro,
    repository: (_required: true) =>
      admission(authority('repository'), uploadBody(), async (request) => {
        const site = await siteOf(context, request)
        const origin = originOf(request)
        const secret = passwordOf(request.headers.get('authorization'))
        const use = { secret, scopes: SCOPES, address: origin.address }
        const { tokenId, name } = await context.deployTokens.admit(site, use)
        const by: Actor = { type: 'deployToken', tokenId, name, via: 'git', origin }
        return { site, by }
      }),
  })

interface ServiceCall {
  readonly request: Request
  readonly site: Site
  readonly by: Actor
}

const answerService = (
  context: AppContext,
  service: Service,
  { request, site, by }: ServiceCall,
): Promise<Response> =>
  answer(context, site, {
    ...asked(request, service),
    part: 'service',
    by,
    body: uploadStream(request),
  })

const asked = ({ headers, signal }: Request, service: Service) => ({
  service,
  signal,
  headers: {
    contentType: headers.get('content-type'),
    contentEncoding: headers.get('content-encoding'),
    gitProtocol: headers.get('git-protocol'),
  },
})

async function answer(
  context: AppContext,
  { siteId }: Site,
  request: RepositoryRequest,
): Promise<Response> {
  const { status, headers, body } = await context.siteRepositories.answer(siteId, request)
  headers.set('cache-control', 'no-store')
  return new Response(body, { status, headers })
}

/** Without a service it is the dumb protocol, which reads files one by one. */
function serviceIn(service: string | undefined): Service {
  if (service === 'git-upload-pack' || service === 'git-receive-pack') return service
  throw invalid(
    'service',
    'must be git-upload-pack or git-receive-pack: use a git that speaks the smart protocol',
  )
}

/** RFC 7617. */
function passwordOf(authorization: string | null): string {
  const [scheme, encoded = ''] = (authorization ?? '').split(' ')
  if (scheme?.toLowerCase() === 'basic') {
    const text = Buffer.from(encoded, 'base64').toString()
    const colon = text.indexOf(':')
    if (colon !== -1) return text.slice(colon + 1)
  }
  throw new AppError(
    'Unauthorized',
    'The repository opens with a deploy token of the site as the password, and any user name',
  )
}
