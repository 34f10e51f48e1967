import { Type } from '@sinclair/typebox'
import { Elysia, t } from 'elysia'

import { invalid } from '#base/app-error.ts'
import type { AppContext } from '#context'
import { PageOf, PageQuery, pageAnswer, pageRequest } from '#http/page-query.ts'
import { adminAuth } from '#http/plugins/admin-auth.ts'
import { originOf } from '#http/request-origin.ts'
import type { Actor } from '#identity/actor.ts'
import { DataGroup, NewDataGroup } from '#identity/groups/model.ts'
import type { GroupChanger } from '#identity/groups/service.ts'

import { Done, NameText } from './views.ts'

const GroupPath = Type.Object({ groupName: NameText })

const Username = Type.String({ minLength: 1, maxLength: 254 })
const Named = Type.Object({ username: Username }, { additionalProperties: false })

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

/** Groups of a site's visitors, which operations in mode `groups` ask for. A visitor's `username` is the address. */
export const groupRoutes = (context: AppContext) =>
  new Elysia({ prefix: '/admin/data/groups' })
    .use(adminAuth(context))
    .get(
      '/',
      async ({ site, query }) => {
        const scope = [site.siteId, 'groups']
        const page = pageRequest(context, scope, query)
        return pageAnswer(context, scope, await context.dataGroups.list(site, page))
      },
      { role: 'admin', query: PageQuery, response: PageOf(DataGroup) },
    )
    .post(
      '/',
      ({ site, actor, request, body }) =>
        context.dataGroups.create(site, body, changer(actor, request)),
      { role: 'admin', body: NewDataGroup, response: DataGroup },
    )
    .delete(
      '/:groupName',
      async ({ site, actor, request, params }) => {
        await context.dataGroups.remove(site, params.groupName, changer(actor, request))
        return { ok: true as const }
      },
      { role: 'admin', params: GroupPath, response: Done },
    )
    .get(
      '/:groupName/users',
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
      '/:groupName/users',
      async ({ site, actor, request, params: { groupName }, body }) => {
        const membership = { groupName, username: body.username }
        const by = changer(actor, request)
        const username = await context.dataGroups.addMember(site, membership, by)
        return { groupName, username, ok: true as const }
      },
      { role: 'admin', params: GroupPath, body: Named, response: MembershipView },
    )
    .delete(
      '/:groupName/users',
      async ({ site, actor, request, params: { groupName }, body, query }) => {
        const named = body?.username ?? query.username
        if (named === undefined) throw invalid('username', 'is required')
        const membership = { groupName, username: named }
        const by = changer(actor, request)
        const username = await context.dataGroups.removeMember(site, membership, by)
        return { groupName, username, ok: true as const }
      },
      {
        role: 'admin',
        params: GroupPath,
        query: t.Object({ username: t.Optional(Username) }),
        body: Type.Optional(Named),
        response: MembershipView,
      },
    )

const changer = ({ userId }: Actor, request: Request): GroupChanger => ({
  actor: userId,
  origin: originOf(request),
})
