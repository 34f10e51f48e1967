import { Type } from '@sinclair/typebox'
import { t } from 'elysia'

import { noContent } from '#http/no-content.ts'
import { PageOf, PageQuery, answerPage } from '#http/paging.ts'
import { NameText } from '#http/path-params.ts'
import { siteFamily } from '#http/plugins/site-family.ts'
import { SessionList, answerSessions } from '#http/session-view.ts'
import {
  VisitorAccount,
  VisitorAccountDetail,
  VisitorSearchFields,
} from '#identity/visitor-accounts/model.ts'

const PATHS = { site: '/admin/data/users', operator: '/users' } as const

const VisitorPath = Type.Object({ sub: NameText })
const VisitorSessionPath = Type.Composite([VisitorPath, Type.Object({ sessionId: NameText })])
const VisitorQuery = t.Composite([PageQuery, t.Object(VisitorSearchFields)])

/** The people who sign in to a site. */
export const visitorRoutes = siteFamily(PATHS, (routes, context) =>
  routes
    .get(
      '/',
      async ({ site, pageScope, query }) => {
        const { email, q, status } = query
        const scope = [...pageScope, 'visitors', JSON.stringify([email, q, status])]
        return answerPage(context, { scope, query }, (page) =>
          context.visitorAccounts.list(site, { ...page, email, q, status }),
        )
      },
      {
        role: 'admin',
        summary: 'List visitors',
        query: VisitorQuery,
        response: PageOf(VisitorAccount),
      },
    )
    .get('/:sub', async ({ site, params }) => context.visitorAccounts.get(site, params.sub), {
      role: 'admin',
      summary: 'Get a visitor',
      params: VisitorPath,
      response: VisitorAccountDetail,
    })
    .post(
      '/:sub/disable',
      async ({ site, by, params }) => context.visitorAccounts.disable(site, params.sub, by),
      {
        role: 'admin',
        summary: 'Disable a visitor',
        changes: { audit: ['user.disabled', 'sessions.revoked'], effects: [] },
        params: VisitorPath,
        response: VisitorAccount,
      },
    )
    .post(
      '/:sub/enable',
      async ({ site, by, params }) => context.visitorAccounts.enable(site, params.sub, by),
      {
        role: 'admin',
        summary: 'Enable a visitor',
        changes: { audit: ['user.enabled'], effects: [] },
        params: VisitorPath,
        response: VisitorAccount,
      },
    ),
)

/** Ending their sign-ins, and their accounts. */
export const visitorRemovalRoutes = siteFamily(PATHS, (routes, context) =>
  routes
    .post(
      '/:sub/sign-out',
      async ({ site, by, params }) => {
        await context.visitorAccounts.signOut(site, params.sub, by)
        return noContent()
      },
      {
        role: 'admin',
        summary: 'Sign a visitor out everywhere',
        changes: { audit: ['sessions.revoked'], effects: [] },
        params: VisitorPath,
        responds: 'no-content',
      },
    )
    .delete(
      '/:sub/second-factor',
      async ({ site, by, params }) => {
        const { pool, sub } = await context.userSessions.visitorById(site, params.sub)
        await context.secondFactors.disable(site, pool, sub, by)
        return noContent()
      },
      {
        role: 'admin',
        summary: 'Remove the second factor of a visitor',
        changes: { audit: ['second-factor.disabled'], effects: ['movesAccount'] },
        params: VisitorPath,
        responds: 'no-content',
      },
    )
    .delete(
      '/:sub',
      async ({ site, by, params }) => {
        await context.visitorAccounts.delete(site, params.sub, by)
        return noContent()
      },
      {
        role: 'admin',
        summary: 'Delete a visitor',
        changes: { audit: ['user.deleted'], effects: ['deletesPeople'] },
        params: VisitorPath,
        responds: 'no-content',
      },
    ),
)

/** Where they are signed in. */
export const visitorSessionRoutes = siteFamily(
  { site: '/admin/data/users/:sub/sessions', operator: '/users/:sub/sessions' },
  (routes, context) =>
    routes
      .get(
        '/',
        async ({ site, pageScope, params: { sub }, query }) => {
          const visitor = await context.userSessions.visitorById(site, sub)
          const asked = { scope: [...pageScope, 'visitor-sessions', sub], query }
          return answerSessions(context, asked, await context.userSessions.list(site, visitor))
        },
        {
          role: 'admin',
          summary: 'List the sessions of a visitor',
          params: VisitorPath,
          query: PageQuery,
          response: SessionList,
        },
      )
      .delete(
        '/:sessionId',
        async ({ site, by, params: { sub, sessionId } }) => {
          const visitor = await context.userSessions.visitorById(site, sub)
          await context.userSessions.end(site, visitor, sessionId, by)
          return noContent()
        },
        {
          role: 'admin',
          summary: 'End a session of a visitor',
          changes: { audit: ['session.revoked'], effects: [] },
          params: VisitorSessionPath,
          responds: 'no-content',
        },
      ),
)
