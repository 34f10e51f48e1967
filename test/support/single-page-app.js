import { UserManager, WebStorageStateStore } from 'oidc-client-ts'

/**
 * An application as it is written for any issuer, bundled for Chromium. At `/{host}/{pool}/` it is the one of that pool,
 * which it discovers unless it knows one. Installation and application have one scheme and one port.
 */
const [, host, pool, page] = location.pathname.split('/')
const site = Object.assign(new URL(location.origin), { hostname: host }).origin
const home = `${location.origin}/${host}/${pool}/`

async function read(path, init) {
  const response = await fetch(site + path, init)
  return { status: response.status, body: await response.json() }
}

async function discover() {
  if (pool === 'admin') {
    const { auth } = (await read('/admin/public/config')).body
    return { authority: auth.issuer, client_id: auth.clientId }
  }
  const { issuer, userPoolClientId } = (await read('/data/auth/config')).body.data
  return { authority: globalThis.authority ?? issuer, client_id: userPoolClientId }
}

/** What can leave the page. */
const told = (promise) =>
  promise.then(
    (user) => user && { ...user, profile: user.profile },
    ({ name, message, error }) => ({ failed: { name, message, error } }),
  )

async function start() {
  const manager = new UserManager({
    ...(await discover()),
    redirect_uri: `${home}callback`,
    post_logout_redirect_uri: home,
    scope: 'openid email profile',
    loadUserInfo: true,
    automaticSilentRenew: false,
    // As long as tokens live: renewal by itself, once it is started, comes after a second.
    accessTokenExpiringNotificationTimeInSeconds: 3600,
    userStore: new WebStorageStateStore({ store: localStorage }),
  })
  return {
    /** The result of the response with which the browser was sent here. */
    arrival: page === 'callback' ? await told(manager.signinCallback()) : undefined,
    clientId: manager.settings.client_id,
    user: () => told(manager.getUser()),
    signIn: (request) => manager.signinRedirect({ nonce: crypto.randomUUID(), ...request }),
    signInByWindow: () => told(manager.signinPopup({ nonce: crypto.randomUUID() })),
    renew: (request) => told(manager.signinSilent(request)),
    renewByItself: () =>
      told(
        new Promise((resolve, reject) => {
          manager.events.addSilentRenewError(reject)
          manager.startSilentRenew()
          manager.events.addUserLoaded((user) => {
            manager.stopSilentRenew()
            resolve(user)
          })
        }),
      ),
    revoke: (types) => told(manager.revokeTokens(types)),
    signOut: (request) => manager.signoutRedirect(request),
    forget: () => told(manager.removeUser()),
    /** Fails as the browser lets it: without a word of why. */
    async call(path, token, body, method = 'POST') {
      const headers = { authorization: `Bearer ${token}` }
      const sent = { method, body: JSON.stringify(body) }
      const type = { 'content-type': 'application/json' }
      const init = body ? { ...sent, headers: { ...headers, ...type } } : { headers }
      return read(path, init).catch(({ name }) => ({ failed: { name } }))
    },
  }
}

window.app = start()
