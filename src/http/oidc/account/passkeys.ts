import { Elysia } from 'elysia'

import type { AppContext } from '#context'
import { PasskeyChallenges } from '#http/oidc/passkeys/challenges.ts'
import { CHALLENGE_FIELD, CREDENTIAL_FIELD } from '#http/oidc/passkeys/form.ts'
import { seeOther } from '#http/oidc/see-other.ts'
import { passkeyCreationOptions } from '#identity/passkeys/options.ts'
import { t, textIn } from '#languages/message.ts'

import { accountFormPage, accountFormRoutes } from './account-form.ts'
import { pathTo } from './account-request.ts'
import { deviceName } from './device-name.ts'

/** The parameter of the page that removes a passkey, and the field of its form. */
export const REMOVED_PASSKEY = 'id'

/** The passkeys of the account: the page that adds one, and the one that removes one. */
export const accountPasskeyRoutes = (context: AppContext) =>
  new Elysia().use(additionRoutes(context)).use(removalRoutes(context))

const additionRoutes = (context: AppContext) => {
  const challenges = new PasskeyChallenges(context)
  return accountFormRoutes(context, {
    page: 'account/passkey',
    proof: 'passkey',
    async show(request, form) {
      const { site, pool, csrf, session } = request
      const { sub } = session
      const { email, name } = await context.selfService.get(request, sub)
      const known = await context.passkeys.list(site, pool, sub)
      const { challenge, sealed } = challenges.create({ pool, csrf, sub })
      const options = passkeyCreationOptions(request, { sub, email, name }, { known, challenge })
      return accountFormPage(request, 'account/passkey', form, {
        title: t('passkey.title'),
        lead: t('passkey.lead', { site: site.domain }),
        passkey: { options },
        hidden: { [CHALLENGE_FIELD]: sealed, [CREDENTIAL_FIELD]: '' },
        fields: [],
        submit: t('passkey.title'),
      })
    },
    async submit(request, fields) {
      const { pool, csrf, session, origin, language } = request
      const { sub } = session
      await context.passkeys.add(request, sub, {
        credential: fields.get(CREDENTIAL_FIELD) ?? '',
        challenge: challenges.open({ pool, csrf, sub }, fields.get(CHALLENGE_FIELD)),
        name: textIn(deviceName(origin.userAgent), language),
      })
      return request.done('passkey-added')
    },
  })
}

const removalRoutes = (context: AppContext) =>
  accountFormRoutes(context, {
    page: 'account/passkey/remove',
    proof: 'passkey',
    async show(request, form) {
      const { site, pool, session } = request
      const id =
        form.typed.get(REMOVED_PASSKEY) ??
        new URL(request.request.url).searchParams.get(REMOVED_PASSKEY)
      const passkeys = await context.passkeys.list(site, pool, session.sub)
      const removed = passkeys.find(({ credentialId }) => credentialId === id)
      // It is gone, or a sign-in came between, which leads to the page alone.
      if (!removed) return seeOther(pathTo(pool, 'account'), request.csrf.cookies)
      return accountFormPage(request, 'account/passkey/remove', form, {
        title: t('passkey-removal.title'),
        lead: t('passkey-removal.lead', { name: removed.name }),
        hidden: { [REMOVED_PASSKEY]: removed.credentialId },
        fields: [],
        submit: t('account.remove'),
      })
    },
    async submit(request, fields) {
      await context.passkeys.remove(request, request.session.sub, fields.get(REMOVED_PASSKEY) ?? '')
      return request.done('passkey-removed')
    },
  })
