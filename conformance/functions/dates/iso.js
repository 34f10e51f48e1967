export default async () => {
  return [
    new Date(0).toISOString(),
    new Date('2026-11-25T10:00:00Z').getTime(),
    JSON.stringify(new Date(NaN)),
  ]
}
