import type { SignInClient } from './google-sign-in.ts'
import type { Answer } from './http-client.ts'
import type { Journey } from './journey.ts'
import type { Tokens } from './relying-party.ts'
import { requestSignUp } from './visitors.ts'
import type { Walk, WalkingBrowser } from './walking-browser.ts'

/** More are not mailed to from one address within an hour. */
const MAX_SIGN_UPS = 12

/** A code that a browser has brought, and the response that its application got for it. */
export interface BroughtCode {
  readonly client: SignInClient
  readonly walk: Walk
  /** `kept`: never handed in. `lost`: handed in, and no answer came. */
  fate: 'kept' | 'lost' | 'used'
}

/** An application that renews a sign-in again and again. */
export interface Renewing {
  readonly client: SignInClient
  tokens: Tokens
  /** Those whose successors have arrived. */
  readonly used: string[]
  /** Whether the newest one was handed in, and no answer came. */
  isAsking: boolean
}

export interface WaitingSignUp {
  readonly email: string
  readonly browser: WalkingBrowser
  readonly client: SignInClient
  readonly walk: Walk
}

/** People who use a service until it is gone, and the responses that each of them got by then. */
export class SignInCrowd {
  answers = 0
  readonly codes: BroughtCode[] = []
  readonly renewing: Renewing[] = []
  readonly browsers: WalkingBrowser[] = []
  readonly signUps: WaitingSignUp[] = []
  /** Responses that must not occur. */
  readonly wrong: string[] = []
  readonly #on: Journey

  constructor(on: Journey) {
    this.#on = on
  }

  /** Resolves when all have been cut off. */
  async work(): Promise<void> {
    const people = await Promise.all(Array.from({ length: 3 }, () => this.#on.newPerson()))
    await Promise.all(
      people.flatMap(({ browser }) => [
        untilCutOff(() => this.#signIn(browser)),
        untilCutOff(() => this.#renew(browser)),
        untilCutOff(() => this.#signUp()),
      ]),
    )
  }

  /** Every other code is kept. */
  async #signIn(browser: WalkingBrowser): Promise<void> {
    this.browsers.push(browser)
    for (let round = 0; ; round++) {
      const client = await this.#on.client()
      const walk = await browser.open(client.authorizeUrl)
      const code: BroughtCode = { client, walk, fate: round % 2 === 0 ? 'kept' : 'lost' }
      this.codes.push(code)
      if (code.fate === 'kept') continue
      this.#count(await this.#on.exchange(client, walk))
      code.fate = 'used'
    }
  }

  async #renew(browser: WalkingBrowser): Promise<void> {
    const client = await this.#on.client()
    const walk = await browser.open(client.authorizeUrl)
    const tokens = await this.#on.tokens(client, walk)
    const mine: Renewing = { client, tokens, used: [], isAsking: false }
    this.renewing.push(mine)
    for (;;) {
      mine.isAsking = true
      const answer = await this.#on.refresh(client, mine.tokens.refresh_token)
      this.#count(answer)
      mine.used.push(mine.tokens.refresh_token)
      mine.tokens = answer.json as Tokens
      mine.isAsking = false
    }
  }

  async #signUp(): Promise<void> {
    for (let round = 0; round < MAX_SIGN_UPS / 3; round++) {
      const [email, browser, client] = [
        this.#on.newAddress(),
        this.#on.newBrowser(),
        await this.#on.client(),
      ]
      const walk = await requestSignUp(browser, { client, email })
      this.#count(walk.answer)
      this.signUps.push({ email, browser, client, walk })
    }
  }

  #count({ status, text }: Answer): void {
    this.answers += 1
    if (status !== 200) this.wrong.push(`${status} ${text}`)
  }
}

async function untilCutOff(work: () => Promise<void>): Promise<void> {
  try {
    await work()
  } catch (error) {
    if (!(error instanceof Error && 'code' in error)) throw error
  }
}
