import { createHash, timingSafeEqual } from 'node:crypto'

import { Elysia } from 'elysia'

import type { OperatorActor } from '#base/actor.ts'
import { AppError } from '#base/app-error.ts'
import type { AppContext } from '#context'
import { jsonBody } from '#http/bodies/request-body.ts'
import { operatorAt } from '#http/operator-at.ts'
import type { SiteRecord } from '#sites/model.ts'

import {
  type PathParams,
  type ResolveContext,
  admission,
  authority,
  routeMacro,
} from './authority.ts'

/**
 * `operator: true` on a route: the caller holds the installation's operator key. `siteOperator: true` is the same below
 * `…/sites/:siteId` and adds the `site` that the path names.
 */
export const operatorAuth = (context: AppContext) => {
  const admit = operatorAdmission(context)
  const admitted = () =>
    admission(authority('operator'), jsonBody(), async (request) => {
      admit(request)
      return { operator: true as const }
    })
  return new Elysia().macro({
    ...routeMacro,
    operator: (_required: true) => admitted(),
    siteOperator: (_required: true) => {
      const hooks = admitted()
      return {
        ...hooks,
        async resolve({ admitted, params }: ResolveContext<{ operator: true }>) {
          hooks.resolve({ admitted, params })
          return { site: await siteNamedIn(context, params) }
        },
      }
    },
  })
}

/** Admits who calls with the operator key. */
export function operatorAdmission(context: AppContext): (request: Request) => OperatorActor {
  const holdsKey = operatorKeyCheck(context)
  return (request) => {
    if (!holdsKey(request.headers)) throw noKey()
    return operatorAt(request)
  }
}

/** The site that the path of a request names by its id or domain. */
export const siteNamedIn = (
  { sites }: Pick<AppContext, 'sites'>,
  params: PathParams,
): Promise<SiteRecord> => sites.find(String(params?.['siteId']))

/** Makes what tells whether a request comes with the operator key; where that opens nothing, none does. */
export function operatorKeyCheck({ operatorKey }: AppContext): (headers: Headers) => boolean {
  if (operatorKey === undefined) return () => false
  const expected = digest(operatorKey)
  return (headers) => {
    const [scheme, key] = (headers.get('authorization') ?? '').split(' ')
    const valid = timingSafeEqual(digest(key ?? ''), expected)
    return scheme?.toLowerCase() === 'bearer' && valid
  }
}

const noKey = (): AppError =>
  new AppError(
    'Unauthorized',
    'This route needs the operator key as "Authorization: Bearer …" (CROFT_OPERATOR_KEY)',
  )

const digest = (text: string): Buffer => createHash('sha256').update(text).digest()
