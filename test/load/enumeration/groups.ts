import { SrpClient, type SrpParameters } from '#test/srp-client.ts'

import { type Ask, PASSWORD, type Site } from './site.ts'

/** The kinds of owners of an address. The others must not be distinguishable from the first. */
export const WHO = ['nobody', 'account', 'no password', 'unconfirmed'] as const
export type Who = (typeof WHO)[number]

/** A question that any client may ask about an address, as often as there are samples. */
export interface Group {
  readonly name: string
  readonly status: number
  /** Beside unknown addresses. */
  readonly who: readonly Who[]
  /** Differs, so that a measurement which cannot tell would be known for it. */
  readonly isControl?: true
  /** What has to happen before an address can be asked about; gives what to ask. */
  prepare(site: Site, email: string, who: Who): Promise<Asking> | Asking
}

export type Asking = () => Ask | Promise<Ask>

type Fields = Readonly<Record<string, string>>

const WRONG = 'Wrong-Horse-9-Battery'
const NO_CODE = 'nodigits'
const EVERYBODY = ['account', 'no password', 'unconfirmed'] as const

export const GROUPS: readonly Group[] = [
  {
    name: 'sign-in, wrong password',
    status: 400,
    who: EVERYBODY,
    prepare: (site, email) => page(site, 'login', { username: email, password: WRONG }),
  },
  { name: 'sign-in while backing off', status: 429, who: EVERYBODY, prepare: backedOff },
  {
    name: 'sign-up',
    status: 303,
    who: EVERYBODY,
    prepare: (site, email) => page(site, 'signup', { username: email, password: WRONG }),
  },
  { name: 'code of a sign-up, wrong', status: 400, who: EVERYBODY, prepare: codePage },
  {
    name: 'forgotten password',
    status: 303,
    who: EVERYBODY,
    prepare: (site, email) => page(site, 'forgotPassword', { username: email }),
  },
  { name: 'code of a reset, wrong', status: 400, who: EVERYBODY, prepare: resetPage },
  {
    name: 'API: SignUp',
    status: 200,
    who: EVERYBODY,
    prepare: (site, email) => operation(site, 'SignUp', { Username: email, Password: WRONG }),
  },
  {
    name: 'API: ConfirmSignUp',
    status: 400,
    who: EVERYBODY,
    prepare: (site, email) =>
      operation(site, 'ConfirmSignUp', { Username: email, ConfirmationCode: NO_CODE }),
  },
  {
    name: 'API: ResendConfirmationCode',
    status: 200,
    who: EVERYBODY,
    prepare: (site, email) => operation(site, 'ResendConfirmationCode', { Username: email }),
  },
  {
    name: 'API: USER_PASSWORD_AUTH',
    status: 400,
    who: EVERYBODY,
    prepare: (site, email) =>
      operation(site, 'InitiateAuth', {
        AuthFlow: 'USER_PASSWORD_AUTH',
        AuthParameters: { USERNAME: email, PASSWORD: WRONG },
      }),
  },
  {
    name: 'API: USER_SRP_AUTH',
    status: 200,
    who: EVERYBODY,
    prepare: (site, email) => operation(site, 'InitiateAuth', srpFields(email, new SrpClient())),
  },
  { name: 'API: PASSWORD_VERIFIER', status: 400, who: EVERYBODY, prepare: proof },
  { name: 'a page just after a forgotten password', status: 200, who: EVERYBODY, prepare: after },
  {
    name: 'control: a second argon2',
    status: 400,
    who: ['unconfirmed'],
    isControl: true,
    prepare: besideOwnSignUp,
  },
  {
    name: 'control: a statement less',
    status: 200,
    who: ['account'],
    isControl: true,
    prepare: anotherQuestion,
  },
]

/** The same form for all clients: a page is fetched once. */
const forms = new Map<string, ReturnType<Site['form']>>()

async function page(site: Site, name: string, fields: Fields): Promise<Asking> {
  const known = forms.get(name) ?? site.form(site.pagePath(name))
  forms.set(name, known)
  const fill = await known
  return () => fill(fields)
}

const operation =
  (site: Site, target: string, fields: object): Asking =>
  () =>
    site.operation(target, fields)

/** From a network that has tried too often; a client that is admitted again tries again. */
async function backedOff(site: Site, email: string): Promise<Asking> {
  const wrong = await page(site, 'login', { username: email, password: WRONG })
  const ask = await wrong()
  return async () => {
    for (;;) {
      const { status } = await site.send(ask)
      if (status === 429) return ask
    }
  }
}

/** The page for the code of a sign-up of the asker's own. */
async function codePage(site: Site, email: string): Promise<Asking> {
  const signUp = await page(site, 'signup', { username: email, password: WRONG })
  return nextPage(site, await signUp(), { code: NO_CODE })
}

async function resetPage(site: Site, email: string): Promise<Asking> {
  const forgot = await page(site, 'forgotPassword', { username: email })
  return nextPage(site, await forgot(), { code: NO_CODE, password: WRONG })
}

async function nextPage(site: Site, before: Ask, fields: Fields): Promise<Asking> {
  const { headers } = await site.send(before)
  const fill = await site.form(headers.location ?? '')
  return () => fill(fields)
}

const srpFields = (email: string, client: SrpClient): object => ({
  AuthFlow: 'USER_SRP_AUTH',
  AuthParameters: { USERNAME: email, SRP_A: client.publicHex },
})

/** The answer to a challenge, for a wrong password. */
function proof(site: Site, email: string): Asking {
  const client = new SrpClient()
  const userPoolId = site.path.split('/').at(-1) ?? ''
  return async () => {
    const challenge = await site.send(site.operation('InitiateAuth', srpFields(email, client)))
    const parameters: SrpParameters = JSON.parse(challenge.text).ChallengeParameters
    return site.operation('RespondToAuthChallenge', {
      ChallengeName: 'PASSWORD_VERIFIER',
      ChallengeResponses: client.answer(parameters, { userPoolId, password: WRONG }),
    })
  }
}

/** The effect of the work behind an answer, a mail perhaps, on the next request. */
async function after(site: Site, email: string): Promise<Asking> {
  const forgot = await page(site, 'forgotPassword', { username: email })
  return async () => {
    await site.send(await forgot())
    return { path: site.pagePath('login'), headers: {} }
  }
}

/** A client that has signed up is recognized by its network: there a second password is compared. */
async function besideOwnSignUp(site: Site, email: string, who: Who): Promise<Asking> {
  const network = site.network()
  if (who === 'unconfirmed') {
    const signUp = site.operation('SignUp', { Username: email, Password: PASSWORD })
    await site.send({ ...signUp, headers: { ...signUp.headers, ...network } })
  }
  const wrong = await page(site, 'login', { username: email, password: WRONG })
  return async () => {
    const ask = await wrong()
    return { ...ask, headers: { ...ask.headers, ...network } }
  }
}

/** Two operations that do nearly the same: sending a code again leaves no trace in the trail. */
function anotherQuestion(site: Site, email: string, who: Who): Asking {
  const target = who === 'nobody' ? 'ForgotPassword' : 'ResendConfirmationCode'
  return operation(site, target, { Username: `other-${email}` })
}

/** Makes a person of that kind. */
export async function settle(site: Site, who: Who, email: string): Promise<void> {
  if (who === 'account') await site.account(email)
  if (who === 'no password') await site.visitor(email)
  if (who === 'unconfirmed') {
    await site.send(site.operation('SignUp', { Username: email, Password: PASSWORD }))
  }
}
