export default async () => {
  return [Date.UTC(2026, 1, 29), new Date(Date.UTC(2026, 10, 25)).getUTCDay()]
}
