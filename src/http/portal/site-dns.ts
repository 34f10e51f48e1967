import { Type } from '@sinclair/typebox'
import { Elysia } from 'elysia'

import { ClosedObject } from '#base/closed-object.ts'
import type { AppContext } from '#context'
import { SHORT_JSON_BYTES, optionalJsonBody } from '#http/bodies/request-body.ts'
import { operatorAt } from '#http/operator-at.ts'
import { SitePath } from '#http/path-params.ts'
import { operatorAuth } from '#http/plugins/operator-auth.ts'
import { DkimKey } from '#mail/dkim/model.ts'
import { SiteDns } from '#mail/dns-records/model.ts'

const DkimKeys = Type.Object({ items: Type.Array(DkimKey) })

/** `force` when DNS does not show the record here, though it is published. */
const Activation = ClosedObject({ force: Type.Optional(Type.Boolean()) })

/** What a site's mail needs in DNS, and the keys that sign it. Nothing shows a private key. */
export const portalSiteDnsRoutes = (context: AppContext) =>
  new Elysia({ prefix: '/portal/api/sites/:siteId' })
    .use(operatorAuth(context))
    .get('/dns', async ({ site }) => context.siteDnsRecords.check(site), {
      siteOperator: true,
      summary: 'Get the DNS records of a site',
      params: SitePath,
      response: SiteDns,
    })
    .get('/dkim', async ({ site }) => ({ items: [...(await context.dkimKeys.list(site))] }), {
      siteOperator: true,
      summary: 'Get the DKIM keys of a site',
      params: SitePath,
      response: DkimKeys,
    })
    .post(
      '/dkim/rotate',
      async ({ site, request }) => context.dkimKeys.rotate(site, operatorAt(request)),
      {
        siteOperator: true,
        summary: 'Create the next DKIM key',
        changes: { audit: ['dkim.rotated'], effects: ['setsSecret'] },
        params: SitePath,
        response: DkimKey,
      },
    )
    .post(
      '/dkim/activate',
      async ({ site, request, body }) =>
        context.dkimKeys.activate(site, operatorAt(request), body.force === true),
      {
        siteOperator: true,
        summary: 'Activate the next DKIM key',
        errors: ['DkimKeyNotPending', 'DkimRecordNotPublished'],
        changes: { audit: ['dkim.activated'], effects: [] },
        requestBody: optionalJsonBody(SHORT_JSON_BYTES),
        params: SitePath,
        body: Activation,
        response: DkimKey,
      },
    )
