export default async () => {
  const a = new AbortController()
  const s = AbortSignal.any([a.signal])
  a.abort(5)
  return [s.aborted, s.reason]
}
