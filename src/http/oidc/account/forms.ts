import { Elysia } from 'elysia'

import { allFaults } from '#base/all-faults.ts'
import { AppError, invalid } from '#base/app-error.ts'
import type { AppContext } from '#context'
import { newPasswordField, readPassword, readUsername, usernameField } from '#http/oidc/fields.ts'
import { type Field } from '#http/oidc/pages/field.ts'
import { html } from '#http/oidc/pages/html.ts'
import { BACK_TO_SITE, noticePage } from '#http/oidc/pages/notice-page.ts'
import { clearedSession } from '#http/oidc/session-cookie.ts'
import { MAX_NAME_LENGTH } from '#identity/own-account/model.ts'

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
        title: 'Your name',
        lead: html`As you want to be called on <b>${request.site.domain}</b>.`,
        fields: [
          {
            name: 'name',
            label: 'Name',
            type: 'text',
            autocomplete: 'name',
            value: typed.get('name') ?? name ?? undefined,
            hint: `At most ${MAX_NAME_LENGTH} characters; leave it empty to have none.`,
            optional: true,
          },
        ],
        submit: 'Save',
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
        title: 'Your email address',
        lead: html`It is <b>${email}</b> now. We send a link to the new one, and until you open it
          nothing changes.`,
        fields: [{ ...usernameField(typed.get('username') ?? undefined), label: 'New address' }],
        submit: 'Send the link',
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
  label: 'Current password',
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
        title: hasPassword ? 'Change your password' : 'Set a password',
        lead: hasPassword
          ? html`Every other sign-in to your account ends.`
          : html`So far you sign in without one.`,
        fields: [
          ...(hasPassword ? [CURRENT_PASSWORD] : []),
          newPasswordField(pool.settings.passwordPolicy, 'New password'),
        ],
        account: email,
        submit: hasPassword ? 'Change password' : 'Set password',
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
        throw isWrong ? invalid('currentPassword', 'is wrong') : error
      })
      return request.done('password')
    },
  })

function readCurrentPassword(fields: URLSearchParams): string {
  const password = fields.get('currentPassword') ?? ''
  if (password === '') throw invalid('currentPassword', 'enter your current password')
  return password
}

const deletionRoutes = (context: AppContext) =>
  accountFormRoutes(context, {
    page: 'account/delete',
    recent: true,
    async show(request, { errors }) {
      const { email } = await context.ownAccounts.get(request, request.session.sub)
      return accountFormPage(request, 'account/delete', {
        title: 'Delete your account',
        lead: html`The account <b>${email}</b> at <b>${request.site.domain}</b> is deleted for good,
          with all that is kept for it. Nobody can bring it back.`,
        fields: [],
        submit: 'Delete my account',
        errors,
        more: backLine(request),
      })
    },
    async submit(request) {
      const { site, pool, session } = request
      await context.ownAccounts.delete(request, session.sub)
      return noticePage({
        title: 'Your account is deleted',
        site,
        tone: 'good',
        text: [`Nothing of it is left at ${site.domain}. You can close this page.`],
        links: [BACK_TO_SITE],
        cookies: [clearedSession(pool)],
      })
    },
  })
