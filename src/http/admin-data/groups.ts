import { Type } from '@sinclair/typebox'
import { Elysia, t } from 'elysia'

import { invalid } from '#base/app-error.ts'
import { ClosedObject } from '#base/closed-object.ts'
import type { AppContext } from '#context'
import { optionalJsonBody } from '#http/bodies/request-body.ts'
import { PageOf, PageQuery, answerPage } from '#http/paging.ts'
import { NameText } from '#http/path-params.ts'
import { adminAuth } from '#http/plugins/admin-auth.ts'
import { DataGroup, NewDataGroup } from '#identity/groups/model.ts'

import { Done, done } from './views.ts'

const GroupPath = Type.Object({ groupName: NameText })

/** A visitor's address. */
const Username = Type.String({ minLength: 1, maxLength: 254 })
const Named = ClosedObject({ username: Username })
const MaybeNamed = ClosedObject({ username: Type.Optional(Username) })
const QueryNamed = t.Object({ username: t.Optional(Username) })

const MembershipView = Type.Object({
  groupName: Type.String(),
  username: Type.String(),
  ok: Type.Literal(true),
})

const membershipView = (groupName: string, username: string) => ({
  groupName,
  username,
  ok: true as const,
})

const MemberView = Type.Object({
  username: Type.String(),
  sub: Type.String(),
  addedAt: Type.Date(),
})

/** Groups of a site's visitors, which operations in mode `groups` ask for. */
export const groupRoutes = (context: AppContext) =>
  new Elysia({ prefix: '/admin/data/groups' })
    .use(adminAuth(context))
    .get(
      '/',
      async ({ site, query }) =>
        answerPage(context, { scope: [site.siteId, 'groups'], query }, (page) =>
          context.dataGroups.list(site, page),
        ),
      { role: 'admin', summary: 'List groups', query: PageQuery, response: PageOf(DataGroup) },
    )
    .post('/', async ({ site, by, body }) => context.dataGroups.create(site, body, by), {
      role: 'admin',
      summary: 'Create a group',
      errors: ['GroupAlreadyExists'],
      changes: { audit: ['group.created'], effects: [] },
      body: NewDataGroup,
      response: DataGroup,
    })
    .delete(
      '/:groupName',
      async ({ site, by, params }) => done(context.dataGroups.remove(site, params.groupName, by)),
      {
        role: 'admin',
        summary: 'Delete a group',
        errors: ['ResourceInUse'],
        changes: { audit: ['group.deleted'], effects: [] },
        params: GroupPath,
        response: Done,
      },
    )

/** Who is in a group. */
export const groupUserRoutes = (context: AppContext) =>
  new Elysia({ prefix: '/admin/data/groups/:groupName/users' })
    .use(adminAuth(context))
    .get(
      '/',
      async ({ site, params: { groupName }, query }) =>
        answerPage(
          context,
          { scope: [site.siteId, 'group-users', groupName], query },
          async (page) => {
            const { items, lastKey } = await context.dataGroups.members(site, groupName, page)
            const users = items.map(({ email, ...rest }) => ({ username: email, ...rest }))
            return { items: users, lastKey }
          },
        ),
      {
        role: 'admin',
        summary: 'List the users of a group',
        params: GroupPath,
        query: PageQuery,
        response: PageOf(MemberView),
      },
    )
    .post(
      '/',
      async ({ site, by, params: { groupName }, body }) => {
        const added = { groupName, username: body.username }
        return membershipView(groupName, await context.dataGroups.addMember(site, added, by))
      },
      {
        role: 'admin',
        summary: 'Add a user to a group',
        errors: ['UserNotFound'],
        changes: { audit: ['group.member-added'], effects: [] },
        params: GroupPath,
        body: Named,
        response: MembershipView,
      },
    )
    .delete(
      '/',
      async ({ site, by, params: { groupName }, body, query }) => {
        const named = body.username ?? query.username
        if (named === undefined) throw invalid('username', 'is required')
        const removed = { groupName, username: named }
        return membershipView(groupName, await context.dataGroups.removeMember(site, removed, by))
      },
      {
        role: 'admin',
        summary: 'Remove a user from a group',
        errors: ['UserNotFound'],
        changes: { audit: ['group.member-removed'], effects: [] },
        requestBody: optionalJsonBody(),
        params: GroupPath,
        query: QueryNamed,
        body: MaybeNamed,
        response: MembershipView,
      },
    )
