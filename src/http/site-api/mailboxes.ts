import { Elysia, t } from 'elysia'

import type { AppContext } from '#context'
import { SHORT_JSON_BYTES, jsonBody, optionalJsonBody } from '#http/bodies/request-body.ts'
import { noContent } from '#http/no-content.ts'
import { PageOf, PageQuery, answerPage } from '#http/paging.ts'
import { AddressPath } from '#http/path-params.ts'
import { adminAuth } from '#http/plugins/admin-auth.ts'
import { siteFamily } from '#http/plugins/site-family.ts'
import {
  Mailbox,
  MailboxOwnerList,
  MailboxSettings,
  MailboxSettingsChange,
  NewMailbox,
  OptionalOwnerList,
  PurgeConfirmation,
  parseOwners,
  requireConfirmation,
} from '#mail/mailboxes/model.ts'

/** May be repeated. */
const OwnersQuery = t.Object({ owners: t.Optional(t.String({ repeatable: true })) })

/** The places where a site takes mail. */
export const mailboxRoutes = siteFamily(
  { site: '/admin/api/mailboxes', operator: '/mailboxes', body: jsonBody(SHORT_JSON_BYTES) },
  (routes, context) =>
    routes
      .post('/', async ({ site, by, body }) => context.mailboxes.create(site, by, body), {
        role: 'admin',
        summary: 'Create a mailbox',
        changes: { audit: ['mailbox.created'], effects: ['movesMail'] },
        body: NewMailbox,
        response: Mailbox,
      })
      .delete(
        '/:address',
        async ({ site, by, params }) => {
          await context.mailboxes.disable(site, by, params.address)
          return noContent()
        },
        {
          role: 'admin',
          summary: 'Disable a mailbox',
          changes: { audit: ['mailbox.disabled', 'mail-forwarding.changed'], effects: [] },
          params: AddressPath,
          responds: 'no-content',
        },
      )
      .post(
        '/:address/purge',
        async ({ site, by, params, body }) => {
          requireConfirmation(params.address, body)
          await context.mailboxes.purge(site, by, params.address)
          return noContent()
        },
        {
          role: 'super-admin',
          summary: 'Purge a mailbox and its messages',
          changes: { audit: ['mailbox.purged', 'alias.deleted'], effects: [] },
          requestBody: optionalJsonBody(SHORT_JSON_BYTES),
          params: AddressPath,
          body: PurgeConfirmation,
          responds: 'no-content',
        },
      )
      .post(
        '/:address/restore',
        async ({ site, by, params, body }) =>
          context.mailboxes.restore(site, by, { ...params, ...body }),
        {
          role: 'admin',
          summary: 'Restore a disabled mailbox',
          changes: { audit: ['mailbox.restored'], effects: ['movesMail'] },
          requestBody: optionalJsonBody(SHORT_JSON_BYTES),
          params: AddressPath,
          body: OptionalOwnerList,
          response: Mailbox,
        },
      ),
)

/** For admins alone: the operator’s list reports what each mailbox uses. */
export const mailboxListRoutes = (context: AppContext) =>
  new Elysia({ prefix: '/admin/api/mailboxes' })
    .use(adminAuth(context, jsonBody(SHORT_JSON_BYTES)))
    .get(
      '/',
      async ({ site, actor, query }) =>
        answerPage(context, { scope: [site.siteId, 'mailboxes', actor.userId], query }, (page) =>
          context.mailboxes.list(site, actor, page),
        ),
      { role: 'user', summary: 'List mailboxes', query: PageQuery, response: PageOf(Mailbox) },
    )

/** What is set about a mailbox, and what it uses. */
export const mailboxSettingsRoutes = siteFamily(
  {
    site: '/admin/api/mailboxes/:address/settings',
    operator: '/mailboxes/:address/settings',
    body: jsonBody(SHORT_JSON_BYTES),
  },
  (routes, context) =>
    routes
      .get(
        '/',
        async ({ site, by, params }) => context.mailboxPreferences.get(site, by, params.address),
        {
          role: 'user',
          summary: 'Get the settings of a mailbox',
          params: AddressPath,
          response: MailboxSettings,
        },
      )
      .put(
        '/',
        async ({ site, by, params, body }) =>
          context.mailboxPreferences.change(site, by, params.address, body),
        {
          role: 'super-admin',
          summary: 'Change the settings of a mailbox',
          changes: { audit: ['mailbox.settings-changed'], effects: [] },
          params: AddressPath,
          body: MailboxSettingsChange,
          response: MailboxSettings,
        },
      ),
)

/** Who owns a mailbox. */
export const mailboxOwnerRoutes = siteFamily(
  {
    site: '/admin/api/mailboxes/:address',
    operator: '/mailboxes/:address',
    body: jsonBody(SHORT_JSON_BYTES),
  },
  (routes, context) =>
    routes
      .patch(
        '/',
        async ({ site, by, params, body }) =>
          context.mailboxOwners.replace(site, by, { ...params, ...body }),
        {
          role: 'admin',
          summary: 'Replace the owners of a mailbox',
          changes: { audit: ['mailbox.owners-changed'], effects: ['movesMail'] },
          params: AddressPath,
          body: MailboxOwnerList,
          response: Mailbox,
        },
      )
      .post(
        '/owners',
        async ({ site, by, params, body }) =>
          context.mailboxOwners.add(site, by, { ...params, ...body }),
        {
          role: 'admin',
          summary: 'Add owners to a mailbox',
          changes: { audit: ['mailbox.owners-changed'], effects: ['movesMail'] },
          params: AddressPath,
          body: MailboxOwnerList,
          response: Mailbox,
        },
      )
      .delete(
        '/owners',
        async ({ site, by, params, body, request }) => {
          const owners = body.owners ?? ownersIn(request.url)
          return context.mailboxOwners.remove(site, by, { ...params, owners })
        },
        {
          role: 'admin',
          summary: 'Remove owners from a mailbox',
          changes: { audit: ['mailbox.owners-changed'], effects: ['movesMail'] },
          requestBody: optionalJsonBody(SHORT_JSON_BYTES),
          params: AddressPath,
          query: OwnersQuery,
          body: OptionalOwnerList,
          response: Mailbox,
        },
      ),
)

/** Elysia hands on one of them without a word. */
const ownersIn = (url: string): readonly string[] =>
  parseOwners(new URL(url).searchParams.getAll('owners'))
