import { type FormBrowser, actionOf, hiddenFields } from '#test/form-browser.ts'
import type { Answer } from '#test/http-client.ts'
import { type SrpParameters, SrpClient } from '#test/srp-client.ts'

import { type Ask, PASSWORD, type Person, type Strangers } from './strangers.ts'

/** A question that any client may ask about an address. */
export interface Asked {
  readonly status: number
  /** How often a password is hashed for it. */
  readonly hashes: number
  of(strangers: Strangers, person: Person): Promise<Ask>
}

const WRONG = 'Wrong-Horse-9-Battery'
const NO_CODE = 'nodigits'

export const ASKED: Readonly<Record<string, Asked>> = {
  'a sign-in': form('login', 400, 1, ({ email }) => ({ username: email, password: WRONG })),
  'a sign-up': form('signup', 303, 1, ({ email }) => ({ username: email, password: WRONG })),
  'a new password': form('forgotPassword', 303, 0, ({ email }) => ({ username: email })),
  'a code of a sign-up': second(form('signup', 303, 1, signingUp), 400, 0, { code: NO_CODE }),
  'another code of a sign-up': second(form('signup', 303, 1, signingUp), 303, 0, {
    action: 'resend',
  }),
  'a code for a new password': second(form('forgotPassword', 303, 0, forgetting), 400, 1, {
    code: NO_CODE,
    password: WRONG,
  }),
  'another code for a new password': second(form('forgotPassword', 303, 0, forgetting), 303, 0, {
    action: 'resend',
  }),
  'a sign-in after too many': tooMany(
    form('login', 400, 1, ({ email }) => ({ username: email, password: WRONG })),
  ),
  SignUp: api('SignUp', 200, 1, ({ email }) => ({ Username: email, Password: WRONG })),
  ConfirmSignUp: api('ConfirmSignUp', 400, 0, ({ email }) => ({
    Username: email,
    ConfirmationCode: NO_CODE,
  })),
  ResendConfirmationCode: api('ResendConfirmationCode', 200, 0, named),
  ForgotPassword: api('ForgotPassword', 200, 0, named),
  ConfirmForgotPassword: api('ConfirmForgotPassword', 400, 1, ({ email }) => ({
    Username: email,
    ConfirmationCode: NO_CODE,
    Password: WRONG,
  })),
  USER_PASSWORD_AUTH: api('InitiateAuth', 400, 1, ({ email }) => ({
    AuthFlow: 'USER_PASSWORD_AUTH',
    AuthParameters: { USERNAME: email, PASSWORD: WRONG },
  })),
  USER_SRP_AUTH: api('InitiateAuth', 200, 0, ({ email }) => ({
    AuthFlow: 'USER_SRP_AUTH',
    AuthParameters: { USERNAME: email, SRP_A: new SrpClient().publicHex },
  })),
  PASSWORD_VERIFIER: { status: 400, hashes: 0, of: wrongProof },
}

type Fields = Readonly<Record<string, string>>

function named({ email }: Person): object {
  return { Username: email }
}

function signingUp({ email }: Person): Fields {
  return { username: email, password: PASSWORD }
}

function forgetting({ email }: Person): Fields {
  return { username: email }
}

/** The form of a page. */
function form(
  name: string,
  status: number,
  hashes: number,
  fields: (person: Person) => Fields,
): Asked {
  return {
    status,
    hashes,
    async of(strangers, person) {
      const browser = strangers.browser()
      const page = await browser.get(strangers.party.page(name))
      return filled(strangers, { browser, page, fields: fields(person) })
    },
  }
}

/** The form of the page to which another form leads. */
function second(before: Asked, status: number, hashes: number, fields: Fields): Asked {
  return {
    status,
    hashes,
    async of(strangers, person) {
      const ask = await before.of(strangers, person)
      const { headers } = await strangers.send(ask)
      const browser = strangers.browser(ask.headers['cookie'])
      const page = await browser.get(headers['location'] ?? '')
      return filled(strangers, { browser, page, fields })
    },
  }
}

function filled(
  strangers: Strangers,
  { browser, page, fields }: { browser: FormBrowser; page: Answer; fields: Fields },
): Ask {
  const cookie = [...browser.cookies].map(([name, value]) => `${name}=${value}`).join('; ')
  return {
    path: actionOf(page.text),
    headers: {
      ...strangers.network(),
      'content-type': 'application/x-www-form-urlencoded',
      cookie,
    },
    body: new URLSearchParams({ ...hiddenFields(page.text), ...fields }).toString(),
  }
}

/** The sixth after five wrong ones from the same place. */
function tooMany(before: Asked): Asked {
  return {
    status: 429,
    hashes: 0,
    async of(strangers, person) {
      const ask = await before.of(strangers, person)
      for (let count = 0; count < 5; count += 1) await strangers.send(ask)
      return ask
    },
  }
}

/** One of Cognito's operations. */
function api(
  target: string,
  status: number,
  hashes: number,
  fields: (person: Person) => object,
): Asked {
  return {
    status,
    hashes,
    of: async (strangers, person) => operation(strangers, target, fields(person)),
  }
}

const operation = (strangers: Strangers, target: string, fields: object): Ask => ({
  path: strangers.party.path,
  headers: {
    ...strangers.network(),
    'content-type': 'application/x-amz-json-1.1',
    'x-amz-target': `AWSCognitoIdentityProviderService.${target}`,
  },
  body: JSON.stringify({ ClientId: strangers.cognito.clientId, ...fields }),
})

/** The answer to a challenge, with a password that is wrong. */
async function wrongProof(strangers: Strangers, { email }: Person): Promise<Ask> {
  const client = new SrpClient()
  const parameters = { USERNAME: email, SRP_A: client.publicHex }
  const begin = { AuthFlow: 'USER_SRP_AUTH', AuthParameters: parameters }
  const { json } = await strangers.send(operation(strangers, 'InitiateAuth', begin))
  const challenge: SrpParameters = json.ChallengeParameters
  const { userPoolId } = strangers.cognito
  return operation(strangers, 'RespondToAuthChallenge', {
    ChallengeName: 'PASSWORD_VERIFIER',
    ChallengeResponses: client.answer(challenge, { userPoolId, password: WRONG }),
  })
}
