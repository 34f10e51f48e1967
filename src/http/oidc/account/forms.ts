import { Elysia } from 'elysia'

import { allFaults } from '#base/all-faults.ts'
import { AppError, invalid } from '#base/app-error.ts'
import type { AppContext } from '#context'
import { newPasswordField, readPassword, readUsername, usernameField } from '#http/oidc/fields.ts'
import { type Field } from '#http/oidc/pages/field.ts'
import { backToSite, noticePage } from '#http/oidc/pages/notice-page.ts'
import { clearedSession } from '#http/oidc/session-cookie.ts'
import { MAX_NAME_LENGTH } from '#identity/own-account/model.ts'
import { say } from '#languages/message.ts'

import { accountFormPage, accountFormRoutes, backLine } from './account-form.ts'

/** The pages of the account with one form each. */
export const accountFormsRoutes = (context: AppContext) =>
  new Elysia()
    .use(nameRoutes(context))
    .use(addressRoutes(context))
    .use(passwordRoutes(context))
    .use(deletionRoutes(context))

const nameRoutes = (context: AppContext) =>
  accountFormRoutes(context, {
    page: 'account/name',
    recent: false,
    async show(request, { typed, errors }) {
      const { name } = await context.ownAccounts.get(request, request.session.sub)
      return accountFormPage(request, 'account/name', {
        title: say('name.title'),
        lead: say('name.lead', { site: request.site.domain }),
        fields: [
          {
            name: 'name',
            label: say('field.name'),
            type: 'text',
            autocomplete: 'name',
            value: typed.get('name') ?? name ?? undefined,
            hint: say('field.name-hint', { count: MAX_NAME_LENGTH }),
            optional: true,
          },
        ],
        submit: say('name.submit'),
        errors,
        more: backLine(request),
      })
    },
    async submit(request, fields) {
      await context.ownAccounts.rename(request, request.session.sub, fields.get('name') ?? '')
      return request.done('name')
    },
  })

const addressRoutes = (context: AppContext) =>
  accountFormRoutes(context, {
    page: 'account/address',
    recent: true,
    async show(request, { typed, errors }) {
      const { email } = await context.ownAccounts.get(request, request.session.sub)
      return accountFormPage(request, 'account/address', {
        title: say('address.title'),
        lead: say('address.lead', { email }),
        fields: [
          { ...usernameField(typed.get('username') ?? undefined), label: say('field.new-address') },
        ],
        submit: say('address.submit'),
        errors,
        more: backLine(request),
      })
    },
    async submit(request, fields) {
      const email = readUsername(fields)
      await context.addressChanges.requestByOwner(request, request.session.sub, email)
      return request.done('address', email)
    },
  })

const CURRENT_PASSWORD: Field = {
  name: 'currentPassword',
  label: say('field.current-password'),
  type: 'password',
  autocomplete: 'current-password',
}

const passwordRoutes = (context: AppContext) =>
  accountFormRoutes(context, {
    page: 'account/password',
    recent: true,
    async show(request, { errors }) {
      const { pool } = request
      const { email, hasPassword } = await context.ownAccounts.get(request, request.session.sub)
      return accountFormPage(request, 'account/password', {
        title: say(hasPassword ? 'password.change-title' : 'password.set-title'),
        lead: say(hasPassword ? 'password.change-lead' : 'password.set-lead'),
        fields: [
          ...(hasPassword ? [CURRENT_PASSWORD] : []),
          newPasswordField(pool.settings.passwordPolicy, say('field.new-password')),
        ],
        account: email,
        submit: say(hasPassword ? 'password.change-submit' : 'reset.set'),
        errors,
        more: backLine(request),
      })
    },
    async submit(request, fields) {
      const { sub, sessionId } = request.session
      const { hasPassword } = await context.ownAccounts.get(request, sub)
      if (!hasPassword) {
        await context.ownPasswords.add(request, { sub, password: readPassword(fields) })
        return request.done('password')
      }
      const [oldPassword, newPassword] = await allFaults(
        () => readCurrentPassword(fields),
        () => readPassword(fields),
      )
      const change = { sub, oldPassword, newPassword, keep: { sessionId } }
      await context.ownPasswords.change(request, change).catch((error: unknown) => {
        const isWrong = error instanceof AppError && error.code === 'InvalidCredentials'
        throw isWrong ? invalid('currentPassword', say('fault.current-password-wrong')) : error
      })
      return request.done('password')
    },
  })

function readCurrentPassword(fields: URLSearchParams): string {
  const password = fields.get('currentPassword') ?? ''
  if (password === '') throw invalid('currentPassword', say('fault.current-password-needed'))
  return password
}

const deletionRoutes = (context: AppContext) =>
  accountFormRoutes(context, {
    page: 'account/delete',
    recent: true,
    async show(request, { errors }) {
      const { email } = await context.ownAccounts.get(request, request.session.sub)
      return accountFormPage(request, 'account/delete', {
        title: say('deletion.title'),
        lead: say('deletion.lead', { email, site: request.site.domain }),
        fields: [],
        submit: say('deletion.submit'),
        errors,
        more: backLine(request),
      })
    },
    async submit(request) {
      const { site, language, pool, session } = request
      await context.ownAccounts.delete(request, session.sub)
      return noticePage({
        title: say('deletion.done'),
        site,
        language,
        tone: 'good',
        text: [say('deletion.done-text', { site: site.domain })],
        links: [backToSite(site, pool.issuer)],
        cookies: [clearedSession(pool)],
      })
    },
  })
