import { t } from 'elysia'

import { actorId } from '#base/actor.ts'
import { SHORT_JSON_BYTES, jsonBody, optionalJsonBody } from '#http/bodies/request-body.ts'
import { noContent } from '#http/no-content.ts'
import { PageOf, PageQuery, answerPage } from '#http/paging.ts'
import { AddressPath } from '#http/path-params.ts'
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

const PATHS = {
  site: '/admin/api/mailboxes',
  operator: '/mailboxes',
  body: jsonBody(SHORT_JSON_BYTES),
} as const

/** The places where a site takes mail. */
export const mailboxRoutes = siteFamily(PATHS, (routes, context) =>
  routes
    .post('/', async ({ site, by, body }) => context.mailboxes.create(site, by, body), {
      role: 'admin',
      summary: 'Create a mailbox',
      errors: ['AliasAlreadyExists', 'InvalidOwner', 'MailboxAlreadyExists', 'QuotaExceeded'],
      changes: { audit: ['mailbox.created'], effects: ['movesMail'] },
      body: NewMailbox,
      response: Mailbox,
    })
    .get(
      '/',
      async ({ site, pageScope, by, query }) =>
        answerPage(context, { scope: [...pageScope, 'mailboxes', actorId(by)], query }, (page) =>
          context.mailboxes.list(site, by, page),
        ),
      { role: 'user', summary: 'List mailboxes', query: PageQuery, response: PageOf(Mailbox) },
    ),
)

/** Disabling a mailbox, and what may follow. */
export const mailboxRemovalRoutes = siteFamily(PATHS, (routes, context) =>
  routes
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
        errors: ['ConfirmationRequired', 'MailboxNotDisabled'],
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
        errors: ['InvalidOwner', 'MailboxNotDisabled'],
        changes: { audit: ['mailbox.restored'], effects: ['movesMail'] },
        requestBody: optionalJsonBody(SHORT_JSON_BYTES),
        params: AddressPath,
        body: OptionalOwnerList,
        response: Mailbox,
      },
    ),
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
          errors: ['InvalidOwner', 'MailboxDisabled'],
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
          errors: ['InvalidOwner', 'MailboxDisabled'],
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
          errors: ['MailboxDisabled', 'MinimumOwners'],
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
