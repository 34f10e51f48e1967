import Stripe from 'stripe'

const stripe = new Stripe('sk_test_key', { httpClient: Stripe.createFetchHttpClient() })
const crypto = Stripe.createSubtleCryptoProvider()
const SECRET = 'whsec_test'

/** What Stripe would send, signed as it signs. */
export default async ({ payload }: { payload: { amount: number; tampered?: boolean } }) => {
  const body = JSON.stringify({
    id: 'evt_1',
    object: 'event',
    type: 'charge.succeeded',
    data: { object: { amount: payload.amount } },
  })
  const header = await stripe.webhooks.generateTestHeaderStringAsync({
    payload: body,
    secret: SECRET,
    cryptoProvider: crypto,
  })
  const received = payload.tampered === true ? body.replace('succeeded', 'refunded') : body
  try {
    const event = await stripe.webhooks.constructEventAsync(
      received,
      header,
      SECRET,
      undefined,
      crypto,
    )
    return { type: event.type, object: event.data.object }
  } catch (error) {
    return { refused: (error as Error).name, of: error instanceof Stripe.errors.StripeError }
  }
}
