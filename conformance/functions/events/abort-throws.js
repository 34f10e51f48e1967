export default async () => {
  try {
    AbortSignal.abort().throwIfAborted()
  } catch (e) {
    return [e.name, e.message]
  }
}
