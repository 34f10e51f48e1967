import { Elysia } from 'elysia'

import type { AppContext } from '#context'
import { newPasswordField, readPassword, readUsername, usernameField } from '#http/oidc/fields.ts'
import { backToSite, noticePage } from '#http/oidc/pages/notice-page.ts'
import { clearedSession } from '#http/oidc/session-cookie.ts'
import { MAX_NAME_LENGTH } from '#identity/self-service/model.ts'
import { t } from '#languages/message.ts'

import { accountFormPage, accountFormRoutes } from './account-form.ts'

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
    proof: 'none',
    async show(request, form) {
      const { name } = await context.selfService.get(request, request.session.sub)
      return accountFormPage(request, 'account/name', form, {
        title: t('name.title'),
        lead: t('name.lead', { site: request.site.domain }),
        fields: [
          {
            name: 'name',
            label: t('field.name'),
            type: 'text',
            autocomplete: 'name',
            value: form.typed.get('name') ?? name ?? undefined,
            hint: t('field.name-hint', { count: MAX_NAME_LENGTH }),
            optional: true,
          },
        ],
        submit: t('name.submit'),
      })
    },
    async submit(request, fields) {
      await context.selfService.rename(request, request.session.sub, fields.get('name') ?? '')
      return request.done('name')
    },
  })

const addressRoutes = (context: AppContext) =>
  accountFormRoutes(context, {
    page: 'account/address',
    proof: 'address',
    async show(request, form) {
      const { email } = await context.selfService.get(request, request.session.sub)
      return accountFormPage(request, 'account/address', form, {
        title: t('address.title'),
        lead: t('address.lead', { email }),
        fields: [
          {
            ...usernameField(form.typed.get('username') ?? undefined),
            label: t('field.new-address'),
          },
        ],
        submit: t('address.submit'),
      })
    },
    async submit(request, fields) {
      const email = readUsername(fields)
      await context.addressChanges.requestByOwner(request, request.session.sub, email)
      return request.done('address', email)
    },
  })

const passwordRoutes = (context: AppContext) =>
  accountFormRoutes(context, {
    page: 'account/password',
    proof: 'password',
    async show(request, form) {
      const { pool } = request
      const { email, hasPassword } = await context.selfService.get(request, request.session.sub)
      const { proof } = form
      const shown = { ...form, proof: { ...proof, account: email } }
      return accountFormPage(request, 'account/password', shown, {
        title: t(hasPassword ? 'password.change-title' : 'password.set-title'),
        lead: t(hasPassword ? 'password.change-lead' : 'password.set-lead'),
        fields: [newPasswordField(pool.settings.passwordPolicy, t('field.new-password'))],
        submit: t(hasPassword ? 'password.change-submit' : 'reset.set'),
      })
    },
    async submit(request, fields) {
      const { sub, sessionId } = request.session
      const password = readPassword(fields)
      const { hasPassword } = await context.selfService.get(request, sub)
      await (hasPassword
        ? context.ownPasswords.replace(request, { sub, newPassword: password, keep: { sessionId } })
        : context.ownPasswords.add(request, { sub, password }))
      return request.done('password')
    },
  })

const deletionRoutes = (context: AppContext) =>
  accountFormRoutes(context, {
    page: 'account/delete',
    proof: 'deletion',
    async show(request, form) {
      const { email } = await context.selfService.get(request, request.session.sub)
      return accountFormPage(request, 'account/delete', form, {
        title: t('deletion.title'),
        lead: t('deletion.lead', { email, site: request.site.domain }),
        fields: [
          {
            ...usernameField(form.typed.get('username') ?? undefined),
            label: t('field.address-again'),
          },
        ],
        submit: t('deletion.submit'),
      })
    },
    async submit(request, fields) {
      const { site, language, pool, session } = request
      const { email } = await context.selfService.get(request, session.sub)
      context.accountDeletions.requireAddress(request, email, readUsername(fields))
      const until = await context.accountDeletions.begin(request, session.sub)
      return noticePage({
        title: t('deletion.done'),
        site,
        language,
        tone: 'good',
        text: [t('deletion.done-text', { email, until, site: site.domain })],
        links: [backToSite(site, pool.issuer)],
        cookies: [clearedSession(pool)],
      })
    },
  })
