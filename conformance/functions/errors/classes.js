export default async () => {
  return [Error, TypeError, RangeError, AggregateError].map((C) => {
    const e = C === AggregateError ? new C([1], 'm', { cause: 2 }) : new C('m', { cause: 2 })
    return [e.name, e.message, e.cause, Object.keys(e), `${e}`, e instanceof Error]
  })
}
