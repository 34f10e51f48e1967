export default async () => {
  let ran = false
  clearTimeout(
    setTimeout(() => {
      ran = true
    }, 0),
  )
  clearTimeout(undefined)
  await new Promise((r) => setTimeout(r, 5))
  return ran
}
