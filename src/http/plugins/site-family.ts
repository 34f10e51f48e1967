import { type TObject, Type } from '@sinclair/typebox'
import { type AnyElysia, Elysia } from 'elysia'

import type { DeployTokenActor, OperatorActor, Role, StepUpActor } from '#base/actor.ts'
import type { AppContext } from '#context'
import { type RequestBody, jsonBody } from '#http/bodies/request-body.ts'
import { SitePath } from '#http/path-params.ts'
import type { DeployTokenScope } from '#identity/deploy-tokens/model.ts'
import type { Resource } from '#runtime/resources/model.ts'
import type { Site } from '#sites/site.ts'

import { admitAdmin } from './admin-auth.ts'
import {
  type PathParams,
  type ResolveContext,
  admission,
  authority,
  routeMacro,
} from './authority.ts'
import type { StepUpRule } from './effects.ts'
import { operatorAdmission, siteNamedIn } from './operator-auth.ts'
import { admitToResource } from './resource-auth.ts'
import { siteAdmission } from './site-access.ts'
import { siteOf } from './site.ts'

const NONE = Type.Object({})

type Mount = 'site' | 'operator'

/** Where a family of routes is mounted. */
interface FamilyPaths {
  /** For admins of the site that the Host names. */
  readonly site: `/admin/${string}`
  /** Below `/portal/api/sites/:siteId`, for the operator. */
  readonly operator: `/${string}`
  /** There, a deploy token with one of these scopes suffices too. */
  readonly tokens?: readonly DeployTokenScope[]
  /** What its routes take that name no other `requestBody`. */
  readonly body?: RequestBody
}

export interface SiteFamily {
  readonly forSite: (context: AppContext) => AnyElysia
  readonly forOperator: (context: AppContext) => AnyElysia
  readonly admitsTokens: boolean
}

interface Admitted {
  readonly by: StepUpActor | OperatorActor | DeployTokenActor
  /** Undefined where it has yet to be found by its path. */
  readonly site: Site | undefined
  /** Admits the caller again; rejects once they may not call the route any more. */
  readonly readmit: () => Promise<unknown>
  /** Read already, with the rights of the caller. Throws `ResourceNotFound` when there is none. */
  readonly resource?: () => Resource
}

type Reads = 'caller' | 'caller-and-resource'

interface Call {
  readonly request: Request
  readonly params: PathParams
  readonly least: Role
  readonly stepUp: StepUpRule
}

/**
 * Routes that admins of a site and the operator both have, declared once. `role: 'admin'` on a route: an admin of the site holds at
 * least that role, and has signed in recently where the route has effects; at the operator's mount the caller holds the operator key,
 * or such a deploy token. Adds `site`, `by`, `readmit` and `pageScope`. `resourceRole` is the same below `…/:resourceId`: it reads the
 * `resource` in the same trip as an admin's rights, and adds it. A route that only one of the mounts has is in another family.
 */
export const siteFamily = (
  paths: FamilyPaths,
  declare: (routes: ReturnType<typeof mountedRoutes>, context: AppContext) => AnyElysia,
): SiteFamily => ({
  forSite: (context) => declare(mountedRoutes(context, paths, 'site'), context),
  forOperator: (context) => declare(mountedRoutes(context, paths, 'operator'), context),
  admitsTokens: paths.tokens !== undefined,
})

function mountedRoutes(context: AppContext, paths: FamilyPaths, mount: Mount) {
  const admit = mount === 'site' ? siteAdmit(context) : operatorAdmit(context, paths)
  const hooksOf = (least: Role, reads: Reads) => {
    const name = mount === 'site' ? (`role:${least}` as const) : keyAuthority(paths)
    const detail = { ...authority(name), 'x-mount': 'both' as const }
    const hooks = admission(detail, paths.body ?? jsonBody(), (request, params, stepUp) =>
      admit({ request, params, least, stepUp }, reads),
    )
    const introspect = (route: { params?: TObject }): void => {
      hooks.introspect(route)
      // Elysia takes no parameter that the schema of the path does not name.
      if (mount === 'operator') route.params = Type.Composite([SitePath, route.params ?? NONE])
    }
    return { ...hooks, introspect }
  }
  /** The operator's site is looked up once the request has been validated. */
  const callOf = async ({ by, site, readmit }: Admitted, params: PathParams) => {
    const found = site ?? (await siteNamedIn(context, params))
    return { site: found, by, readmit, pageScope: pageScopeOf(found, mount) }
  }
  return new Elysia({
    prefix: mount === 'site' ? paths.site : `/portal/api/sites/:siteId${paths.operator}`,
  }).macro({
    ...routeMacro,
    role(least: Role) {
      const hooks = hooksOf(least, 'caller')
      return {
        ...hooks,
        resolve: async (kept: ResolveContext<Admitted>) => callOf(hooks.resolve(kept), kept.params),
      }
    },
    resourceRole(least: Role) {
      const hooks = hooksOf(least, 'caller-and-resource')
      return {
        ...hooks,
        async resolve(kept: ResolveContext<Admitted>) {
          const admitted = hooks.resolve(kept)
          const { site, by } = await callOf(admitted, kept.params)
          const read = () => context.resources.get(site.siteId, String(kept.params?.['resourceId']))
          return { site, by, resource: admitted.resource?.() ?? (await read()) }
        },
      }
    },
  })
}

const keyAuthority = ({ tokens }: FamilyPaths) =>
  tokens === undefined ? 'operator' : (`deploy-token:${tokens.join('|')}` as const)

/** What the scope of each page token begins with: a token of one site and mount is refused at every other. */
const pageScopeOf = ({ siteId }: Site, mount: Mount): readonly string[] =>
  mount === 'site' ? [siteId] : [siteId, 'operator']

type Admit = (call: Call, reads: Reads) => Promise<Admitted>

const siteAdmit =
  (context: AppContext): Admit =>
  async ({ request, params, least, stepUp }, reads) => {
    const site = await siteOf(context, request)
    const readmit = () => admitAdmin(context, site, { request, least })
    const { actor, ...read } =
      reads === 'caller'
        ? { actor: await readmit() }
        : await admitToResource(context, site, { request, params, least })
    const checked = stepUp.check({ authTime: actor.signedInAt }, context.clock.now())
    return { site, by: { ...actor, stepUp: checked }, readmit, ...read }
  }

function operatorAdmit(context: AppContext, { tokens }: FamilyPaths): Admit {
  const admitOperator = operatorAdmission(context)
  const admitEither = siteAdmission(context)
  return async ({ request, params }) => {
    const admit = async () =>
      tokens === undefined
        ? { by: admitOperator(request), site: undefined }
        : admitEither(tokens, request, params)
    return { ...(await admit()), readmit: admit }
  }
}
