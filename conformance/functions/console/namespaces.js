export default async () => {
  console.log(Math, JSON, Reflect)
}
