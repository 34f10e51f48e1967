import { Elysia } from 'elysia'

import type { AppContext } from '#context'
import { noContent } from '#http/no-content.ts'
import { operatorAt } from '#http/operator-at.ts'
import { PageQuery, answerList } from '#http/paging.ts'
import { SiteAddressPath } from '#http/path-params.ts'
import { operatorAuth } from '#http/plugins/operator-auth.ts'
import {
  AddedForwardingTargets,
  ForwardingChange,
  ForwardingSettings,
  ForwardingTargetList,
  ForwardingTargetPage,
} from '#mail/forwarding/model.ts'

/** Where the mailboxes of a site forward to. */
export const portalForwardingRoutes = (context: AppContext) =>
  new Elysia({ prefix: '/portal/api/sites/:siteId/mailboxes/:address' })
    .use(operatorAuth(context))
    .get(
      '/forwarding',
      async ({ site, params, request }) =>
        context.forwarding.get(site, operatorAt(request), params.address),
      { siteOperator: true, params: SiteAddressPath, response: ForwardingSettings },
    )
    .put(
      '/forwarding',
      async ({ site, request, params, body }) =>
        context.forwarding.change(site, operatorAt(request), params.address, body),
      {
        siteOperator: true,
        changes: { audit: ['mail-forwarding.changed'], effects: ['movesMail'] },
        params: SiteAddressPath,
        body: ForwardingChange,
        response: ForwardingSettings,
      },
    )
    .use(forwardingTargetRoutes(context))

const forwardingTargetRoutes = (context: AppContext) =>
  new Elysia()
    .use(operatorAuth(context))
    .get(
      '/forwarding-targets',
      async ({ site, params, query, request }) => {
        const { mailbox, items } = await context.forwardingTargets.list(
          site,
          operatorAt(request),
          params.address,
        )
        const scope = [site.siteId, 'operator', 'forwarding-targets', params.address]
        const page = await answerList(context, { scope, query }, items, ({ target }) => target)
        return { mailbox, ...page }
      },
      {
        siteOperator: true,
        params: SiteAddressPath,
        query: PageQuery,
        response: ForwardingTargetPage,
      },
    )
    .post(
      '/forwarding-targets',
      async ({ site, request, params, body }) =>
        context.forwardingTargets.add(site, operatorAt(request), params.address, body.targets),
      {
        siteOperator: true,
        changes: { audit: ['mail-forwarding.targets-added'], effects: ['movesMail'] },
        params: SiteAddressPath,
        body: ForwardingTargetList,
        response: AddedForwardingTargets,
      },
    )
    .delete(
      '/forwarding-targets',
      async ({ site, request, params, body }) => {
        const { address } = params
        await context.forwardingTargets.remove(site, operatorAt(request), address, body.targets)
        return noContent()
      },
      {
        siteOperator: true,
        changes: { audit: ['mail-forwarding.targets-removed'], effects: [] },
        params: SiteAddressPath,
        body: ForwardingTargetList,
        responds: 'no-content',
      },
    )
