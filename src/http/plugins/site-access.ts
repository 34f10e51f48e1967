import { Elysia } from 'elysia'

import type { DeployTokenActor, OperatorActor } from '#base/actor.ts'
import { AppError } from '#base/app-error.ts'
import type { AppContext } from '#context'
import { jsonBody } from '#http/bodies/request-body.ts'
import { operatorAt } from '#http/operator-at.ts'
import { originOf } from '#http/request-origin.ts'
import { DeployTokens } from '#identity/deploy-tokens/deploy-tokens.ts'
import type { DeployTokenScope } from '#identity/deploy-tokens/model.ts'
import type { SiteRecord } from '#sites/model.ts'

import {
  type PathParams,
  type ResolveContext,
  admission,
  authority,
  routeMacro,
} from './authority.ts'
import { operatorKeyCheck, siteNamedIn } from './operator-auth.ts'

/** Who came, for the audit trail and for what they deploy. */
interface Admitted {
  readonly by: OperatorActor | DeployTokenActor
  /** Found already when the caller needs a token of it. */
  readonly site: SiteRecord | undefined
}

/**
 * `siteAccess: ['deploy']` on a route below `…/sites/:siteId`: the caller holds the operator key, or a deploy token of that
 * site with one of the scopes. Adds the `site` that the path names, and `by`. A token learns of no other site whether it is there.
 */
export const siteAccess = (context: AppContext) => {
  const admit = siteAdmission(context)
  return new Elysia().macro({
    ...routeMacro,
    siteAccess: (scopes: readonly DeployTokenScope[]) => {
      const hooks = admission(
        authority(`deploy-token:${scopes.join('|')}`),
        jsonBody(),
        (request, params): Promise<Admitted> => admit(scopes, request, params),
      )
      return {
        ...hooks,
        async resolve({ admitted, params }: ResolveContext<Admitted>) {
          const { by, site } = hooks.resolve({ admitted, params })
          return { by, site: site ?? (await siteNamedIn(context, params)) }
        },
      }
    },
  })
}

/** Admits who calls with the operator key or a deploy token; a long response asks again while it goes on. */
export function siteAdmission(context: AppContext) {
  const holdsKey = operatorKeyCheck(context)
  return async (
    scopes: readonly DeployTokenScope[],
    request: Request,
    params: PathParams,
  ): Promise<Admitted> => {
    if (!holdsKey(request.headers)) return admittedToken(context, scopes, { request, params })
    const by = operatorAt(request)
    return { by, site: undefined }
  }
}

async function admittedToken(
  context: AppContext,
  scopes: readonly DeployTokenScope[],
  { request, params }: { readonly request: Request; readonly params: PathParams },
): Promise<Admitted> {
  const [scheme, secret = ''] = (request.headers.get('authorization') ?? '').split(' ')
  if (scheme?.toLowerCase() !== 'bearer' || !DeployTokens.isToken(secret)) throw neither()
  const site = await siteNamedIn(context, params).catch((error: unknown) => {
    if (error instanceof AppError && error.code === 'SiteNotFound') return undefined
    throw error
  })
  const origin = originOf(request)
  const { address } = origin
  const { tokenId, name } = await context.deployTokens.admit(site, { secret, scopes, address })
  return {
    by: { type: 'deployToken', tokenId, name, via: 'api', origin },
    site,
  }
}

const neither = (): AppError =>
  new AppError(
    'Unauthorized',
    'This route needs a deploy token of the site (CROFT_DEPLOY_TOKEN) or the operator key (CROFT_OPERATOR_KEY) as "Authorization: Bearer …"',
  )
