import { Elysia } from 'elysia'

import type { AppContext } from '#context'
import { noContent } from '#http/no-content.ts'
import { operatorAt } from '#http/operator-at.ts'
import { PageOf, PageQuery, answerPage } from '#http/paging.ts'
import { SiteAddressPath, SitePath } from '#http/path-params.ts'
import { operatorAuth } from '#http/plugins/operator-auth.ts'
import { Alias, AliasTargets } from '#mail/aliases/model.ts'
import {
  Mailbox,
  MailboxOwnerList,
  MailboxReport,
  MailboxSettings,
  MailboxSettingsChange,
  NewMailbox,
  OptionalOwnerList,
  PurgeConfirmation,
  requireConfirmation,
} from '#mail/mailboxes/model.ts'

/** The mailboxes of a site. */
export const portalMailboxRoutes = (context: AppContext) =>
  new Elysia({ prefix: '/portal/api/sites/:siteId/mailboxes' })
    .use(operatorAuth(context))
    .get(
      '/',
      async ({ site, query }) =>
        answerPage(context, { scope: [site.siteId, 'operator', 'mailboxes'], query }, (page) =>
          context.mailboxReports.list(site, page),
        ),
      { siteOperator: true, params: SitePath, query: PageQuery, response: PageOf(MailboxReport) },
    )
    .post(
      '/',
      async ({ site, request, body }) => context.mailboxes.create(site, operatorAt(request), body),
      {
        siteOperator: true,
        changes: { audit: ['mailbox.created'], effects: ['movesMail'] },
        params: SitePath,
        body: NewMailbox,
        response: Mailbox,
      },
    )
    .get(
      '/:address',
      async ({ site, params }) => context.mailboxReports.get(site, params.address),
      {
        siteOperator: true,
        params: SiteAddressPath,
        response: MailboxReport,
      },
    )
    .use(mailboxRemovalRoutes(context))

const mailboxRemovalRoutes = (context: AppContext) =>
  new Elysia()
    .use(operatorAuth(context))
    .delete(
      '/:address',
      async ({ site, request, params }) => {
        await context.mailboxes.disable(site, operatorAt(request), params.address)
        return noContent()
      },
      {
        siteOperator: true,
        changes: { audit: ['mailbox.disabled', 'mail-forwarding.changed'], effects: [] },
        params: SiteAddressPath,
        responds: 'no-content',
      },
    )
    .post(
      '/:address/restore',
      async ({ site, request, params, body }) =>
        context.mailboxes.restore(site, operatorAt(request), { ...params, ...body }),
      {
        siteOperator: true,
        changes: { audit: ['mailbox.restored'], effects: ['movesMail'] },
        params: SiteAddressPath,
        body: OptionalOwnerList,
        response: Mailbox,
      },
    )
    .post(
      '/:address/purge',
      async ({ site, request, params, body }) => {
        requireConfirmation(params.address, body)
        await context.mailboxes.purge(site, operatorAt(request), params.address)
        return noContent()
      },
      {
        siteOperator: true,
        changes: { audit: ['mailbox.purged', 'alias.deleted'], effects: [] },
        params: SiteAddressPath,
        body: PurgeConfirmation,
        responds: 'no-content',
      },
    )

/** What is set about a mailbox, and who owns it. */
export const portalMailboxChangeRoutes = (context: AppContext) =>
  new Elysia({ prefix: '/portal/api/sites/:siteId/mailboxes/:address' })
    .use(operatorAuth(context))
    .put(
      '/settings',
      async ({ site, request, params, body }) =>
        context.mailboxPreferences.change(site, operatorAt(request), params.address, body),
      {
        siteOperator: true,
        changes: { audit: ['mailbox.settings-changed'], effects: [] },
        params: SiteAddressPath,
        body: MailboxSettingsChange,
        response: MailboxSettings,
      },
    )
    .patch(
      '/',
      async ({ site, request, params, body }) =>
        context.mailboxOwners.replace(site, operatorAt(request), { ...params, ...body }),
      {
        siteOperator: true,
        changes: { audit: ['mailbox.owners-changed'], effects: ['movesMail'] },
        params: SiteAddressPath,
        body: MailboxOwnerList,
        response: Mailbox,
      },
    )
    .post(
      '/owners',
      async ({ site, request, params, body }) =>
        context.mailboxOwners.add(site, operatorAt(request), { ...params, ...body }),
      {
        siteOperator: true,
        changes: { audit: ['mailbox.owners-changed'], effects: ['movesMail'] },
        params: SiteAddressPath,
        body: MailboxOwnerList,
        response: Mailbox,
      },
    )
    .delete(
      '/owners',
      async ({ site, request, params, body }) =>
        context.mailboxOwners.remove(site, operatorAt(request), { ...params, ...body }),
      {
        siteOperator: true,
        changes: { audit: ['mailbox.owners-changed'], effects: ['movesMail'] },
        params: SiteAddressPath,
        body: MailboxOwnerList,
        response: Mailbox,
      },
    )

/** The aliases of a site. */
export const portalAliasRoutes = (context: AppContext) =>
  new Elysia({ prefix: '/portal/api/sites/:siteId/aliases' })
    .use(operatorAuth(context))
    .get(
      '/',
      async ({ site, query }) =>
        answerPage(context, { scope: [site.siteId, 'operator', 'aliases'], query }, (page) =>
          context.aliases.list(site, page),
        ),
      { siteOperator: true, params: SitePath, query: PageQuery, response: PageOf(Alias) },
    )
    .put(
      '/:address',
      async ({ site, request, params, body }) =>
        context.aliases.put(site, operatorAt(request), { ...params, ...body }),
      {
        siteOperator: true,
        changes: { audit: ['alias.changed'], effects: ['movesMail'] },
        params: SiteAddressPath,
        body: AliasTargets,
        response: Alias,
      },
    )
    .delete(
      '/:address',
      async ({ site, request, params }) => {
        await context.aliases.delete(site, operatorAt(request), params.address)
        return noContent()
      },
      {
        siteOperator: true,
        changes: { audit: ['alias.deleted'], effects: [] },
        params: SiteAddressPath,
        responds: 'no-content',
      },
    )
