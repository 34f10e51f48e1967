/** The example's `notes` on Deno over the shim: steps come as JSON, what became of each goes out as JSON. */
interface Step {
  readonly sub: string
  readonly payload: unknown
}

const [file = '', shim = '', steps = '[]'] = process.argv.slice(2)
const { shimContext } = (await import(shim)) as {
  shimContext: (options: object) => object
}
const { default: notes } = (await import(file)) as {
  default: (input: object, ctx: object) => Promise<unknown>
}
const ctx = shimContext({ tables: { notes: { partitionKey: 'owner', sortKey: 'at' } } })
const outcomes: unknown[] = []
for (const [at, { sub, payload }] of (JSON.parse(steps) as Step[]).entries()) {
  const auth = { sub, username: sub, groups: [] }
  await new Promise((go) => setTimeout(go, 2))
  outcomes.push(
    await notes({ payload, auth, requestId: `req_${at}`, operation: 'notes' }, ctx).then(
      (data) => ({ data }),
      ({ code, message }) => ({ code, message }),
    ),
  )
}
process.stdout.write(`${JSON.stringify(outcomes)}\n`)
