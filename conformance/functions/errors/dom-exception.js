export default async () => {
  const e = new DOMException('m', 'AbortError')
  return [e.name, e.message, e.code, e instanceof Error, DOMException.ABORT_ERR, `${e}`]
}
