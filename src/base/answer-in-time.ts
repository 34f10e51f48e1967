/** What was asked for, or `late` where it does not come within the time, or not at all. */
export async function answerInTime<Answer, Late>(
  asked: Promise<Answer>,
  timeoutMs: number,
  late: Late,
): Promise<Answer | Late> {
  const { promise, resolve } = Promise.withResolvers<Late>()
  const timer = setTimeout(() => resolve(late), timeoutMs)
  try {
    return await Promise.race([asked, promise])
  } catch {
    return late
  } finally {
    clearTimeout(timer)
  }
}
