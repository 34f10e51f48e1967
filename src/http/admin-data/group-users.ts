import { Type } from '@sinclair/typebox'
import { Elysia, t } from 'elysia'

import { invalid } from '#base/app-error.ts'
import type { AppContext } from '#context'
import { optionalJsonBody } from '#http/bodies/request-body.ts'
import { PageOf, PageQuery, pageAnswer, pageRequest } from '#http/page-query.ts'
import { adminAuth } from '#http/plugins/admin-auth.ts'
import { originOf } from '#http/request-origin.ts'

import { NameText } from './views.ts'

const GroupPath = Type.Object({ groupName: NameText })

/** A visitor's address. */
const Username = Type.String({ minLength: 1, maxLength: 254 })
const closed = { additionalProperties: false }
const Named = Type.Object({ username: Username }, closed)
const MaybeNamed = Type.Object({ username: Type.Optional(Username) }, closed)
const QueryNamed = t.Object({ username: t.Optional(Username) })

const MembershipView = Type.Object({
  groupName: Type.String(),
  username: Type.String(),
  ok: Type.Literal(true),
})

const MemberView = Type.Object({
  username: Type.String(),
  sub: Type.String(),
  addedAt: Type.String(),
})

/** Who is in a group. */
export const groupUserRoutes = (context: AppContext) =>
  new Elysia({ prefix: '/admin/data/groups/:groupName/users' })
    .use(adminAuth(context))
    .get(
      '/',
      async ({ site, params, query }) => {
        const scope = [site.siteId, 'group-users', params.groupName]
        const page = pageRequest(context, scope, query)
        const { items, lastKey } = await context.dataGroups.members(site, params.groupName, page)
        const users = items.map(({ sub, email, addedAt }) => ({
          username: email,
          sub,
          addedAt: addedAt.toISOString(),
        }))
        return pageAnswer(context, scope, { items: users, lastKey })
      },
      { role: 'admin', params: GroupPath, query: PageQuery, response: PageOf(MemberView) },
    )
    .post(
      '/',
      async ({ site, actor, request, params: { groupName }, body }) => {
        const by = { actor, origin: originOf(request) }
        const membership = { groupName, username: body.username }
        const username = await context.dataGroups.addMember(site, membership, by)
        return { groupName, username, ok: true as const }
      },
      { role: 'admin', params: GroupPath, body: Named, response: MembershipView },
    )
    .delete(
      '/',
      async ({ site, actor, request, params: { groupName }, body, query }) => {
        const named = body.username ?? query.username
        if (named === undefined) throw invalid('username', 'is required')
        if (isRepeated(request.url)) throw invalid('username', 'name one user at a time')
        const by = { actor, origin: originOf(request) }
        const membership = { groupName, username: named }
        const username = await context.dataGroups.removeMember(site, membership, by)
        return { groupName, username, ok: true as const }
      },
      {
        role: 'admin',
        requestBody: optionalJsonBody(),
        params: GroupPath,
        query: QueryNamed,
        body: MaybeNamed,
        response: MembershipView,
      },
    )

/** Elysia hands on one of them without a word. */
const isRepeated = (url: string): boolean => new URL(url).searchParams.getAll('username').length > 1
