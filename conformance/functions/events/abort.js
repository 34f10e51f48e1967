export default async () => {
  const c = new AbortController()
  let seen
  c.signal.addEventListener('abort', () => {
    seen = c.signal.reason
  })
  c.abort('why')
  return [seen, c.signal.aborted]
}
