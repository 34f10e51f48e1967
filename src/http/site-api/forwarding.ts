import { t } from 'elysia'

import { SHORT_JSON_BYTES, jsonBody, optionalJsonBody } from '#http/bodies/request-body.ts'
import { noContent } from '#http/no-content.ts'
import { PageQuery, answerList } from '#http/paging.ts'
import { AddressPath } from '#http/path-params.ts'
import { siteFamily } from '#http/plugins/site-family.ts'
import {
  AddedForwardingTargets,
  ForwardingChange,
  ForwardingSettings,
  ForwardingTargetList,
  ForwardingTargetPage,
  OptionalForwardingTargetList,
} from '#mail/forwarding/model.ts'

const PATHS = {
  site: '/admin/api/mailboxes/:address',
  operator: '/mailboxes/:address',
  body: jsonBody(SHORT_JSON_BYTES),
} as const

/** How a mailbox forwards. */
export const forwardingRoutes = siteFamily(PATHS, (routes, context) =>
  routes
    .get(
      '/forwarding',
      async ({ site, by, params }) => context.forwarding.get(site, by, params.address),
      {
        role: 'user',
        summary: 'Get how a mailbox forwards',
        params: AddressPath,
        response: ForwardingSettings,
      },
    )
    .put(
      '/forwarding',
      async ({ site, by, params, body }) =>
        context.forwarding.change(site, by, params.address, body),
      {
        role: 'user',
        summary: 'Change how a mailbox forwards',
        errors: ['MailboxDisabled'],
        changes: { audit: ['mail-forwarding.changed'], effects: ['movesMail'] },
        params: AddressPath,
        body: ForwardingChange,
        response: ForwardingSettings,
      },
    ),
)

/** Where it forwards to. */
export const forwardingTargetRoutes = siteFamily(PATHS, (routes, context) =>
  routes
    .get(
      '/forwarding-targets',
      async ({ site, pageScope, by, params, query }) => {
        const { mailbox, items } = await context.forwardingTargets.list(site, by, params.address)
        const asked = { scope: [...pageScope, 'forwarding-targets', params.address], query }
        return { mailbox, ...(await answerList(context, asked, items, ({ target }) => target)) }
      },
      {
        role: 'user',
        summary: 'List forwarding targets of a mailbox',
        params: AddressPath,
        query: PageQuery,
        response: ForwardingTargetPage,
      },
    )
    .post(
      '/forwarding-targets',
      async ({ site, by, params, body }) =>
        context.forwardingTargets.add(site, by, params.address, body.targets),
      {
        role: 'user',
        summary: 'Add forwarding targets to a mailbox',
        errors: ['InvalidTarget', 'MailboxDisabled', 'QuotaExceeded'],
        changes: { audit: ['mail-forwarding.targets-added'], effects: ['movesMail'] },
        params: AddressPath,
        body: ForwardingTargetList,
        response: AddedForwardingTargets,
      },
    )
    .delete(
      '/forwarding-targets',
      async ({ site, by, params, body, request }) => {
        const targets = body.targets ?? targetsIn(request.url)
        await context.forwardingTargets.remove(site, by, params.address, targets)
        return noContent()
      },
      {
        role: 'user',
        summary: 'Remove forwarding targets from a mailbox',
        changes: { audit: ['mail-forwarding.targets-removed'], effects: [] },
        requestBody: optionalJsonBody(SHORT_JSON_BYTES),
        params: AddressPath,
        query: t.Object({ targets: t.Optional(t.String({ repeatable: true })) }),
        body: OptionalForwardingTargetList,
        responds: 'no-content',
      },
    ),
)

/** May be repeated; Elysia hands on one of them. */
const targetsIn = (url: string): readonly string[] => new URL(url).searchParams.getAll('targets')
