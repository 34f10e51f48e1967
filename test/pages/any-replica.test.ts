import { afterAll, beforeAll, describe, expect, test } from 'vitest'

import { allowCognitoApi } from '#test/cognito-app.ts'
import type { FakeGoogle } from '#test/fake-google.ts'
import { googleFor } from '#test/google-sign-in.ts'
import { Journey } from '#test/journey.ts'
import { type TestRedis, redisMissing, startRedis } from '#test/redis.ts'
import { SIGN_IN_JOURNEYS } from '#test/sign-in-journeys.ts'
import { type Stack, startStack } from '#test/stack.ts'

const HOST = 'one.test'
const FREE_TRIES = 5

const missing = redisMissing()

/** Two replicas, of which the next step always finds the other one. */
class Hopping implements AsyncDisposable {
  readonly redis: TestRedis | undefined
  readonly #replicas: readonly [Stack, Stack]
  readonly #google: FakeGoogle
  readonly #cleanUp: AsyncDisposable

  constructor(
    replicas: readonly [Stack, Stack],
    means: { google: FakeGoogle; redis: TestRedis | undefined; cleanUp: AsyncDisposable },
  ) {
    this.#replicas = replicas
    this.#google = means.google
    this.redis = means.redis
    this.#cleanUp = means.cleanUp
  }

  static async start(isShared: boolean): Promise<Hopping> {
    await using started = new AsyncDisposableStack()
    const redis = isShared ? started.use(await startRedis()) : undefined
    const shared = redis && { redisUrl: redis.url }
    const one = started.use(await startStack({ ...shared, sites: [HOST] }))
    const google = started.use(await googleFor(one, [HOST]))
    await allowCognitoApi(one, HOST, 'data')
    const two = started.use(await startStack({ ...shared, beside: one }))
    return new Hopping([one, two], { google, redis, cleanUp: started.move() })
  }

  journey(): Journey {
    let [here, there] = this.#replicas
    const [first] = this.#replicas
    const ports = new Map<string, string>()
    return new Journey({
      front: {
        call: (...call) => here.call(...call),
        portal: (...call) => here.portal(...call),
        baseUrl: (host) => first.baseUrl(host),
      },
      host: HOST,
      google: this.#google,
      ports,
      async change() {
        ;[here, there] = [there, here]
        ports.set(String(first.port), String(here.port))
      },
    })
  }

  [Symbol.asyncDispose](): Promise<void> {
    return Promise.resolve(this.#cleanUp[Symbol.asyncDispose]())
  }
}

describe('with two replicas, a person', () => {
  let hopping: Hopping
  beforeAll(async () => {
    hopping = await Hopping.start(false)
  })
  afterAll(() => hopping[Symbol.asyncDispose]())

  test.each(Object.entries(SIGN_IN_JOURNEYS))('%s', async (_what, walk) => {
    expect(await walk(hopping.journey())).toBeUndefined()
  })
})

describe.skipIf(missing)(
  `with two replicas and a Redis${missing ? ` (${missing})` : ''}, a person`,
  () => {
    let hopping: Hopping
    beforeAll(async () => {
      hopping = await Hopping.start(true)
    })
    afterAll(() => hopping[Symbol.asyncDispose]())

    test.each(Object.entries(SIGN_IN_JOURNEYS))('%s', async (_what, walk) => {
      expect(await walk(hopping.journey())).toBeUndefined()
    })

    test('guesses a password no more often because there are two to ask', async () => {
      const on = hopping.journey()
      const { email } = await on.newPerson()
      const browser = on.newBrowser()
      const page = await on.open(browser, await on.client(), 'login')
      const statuses: number[] = []
      for (let tries = 0; tries <= FREE_TRIES; tries++) {
        await on.change()
        const guess = { username: email, password: `Wrong-Horse-${tries}` }
        statuses.push((await browser.submit(page, guess)).answer.status)
      }
      expect(statuses).toEqual([...Array<number>(FREE_TRIES).fill(400), 429])
    })

    test.each(Object.entries(SIGN_IN_JOURNEYS))(
      'whose Redis is lost on the way %s',
      async (_what, walk) => {
        const on = hopping.journey()
        const change = on.change.bind(on)
        on.change = async () => {
          await hopping.redis?.restart()
          await change()
        }
        expect(await walk(on)).toBeUndefined()
      },
    )
  },
)
