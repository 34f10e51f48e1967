export default async () => {
  let why
  const s = new ReadableStream({
    cancel(r) {
      why = r
    },
  })
  await s.cancel('enough')
  return why
}
