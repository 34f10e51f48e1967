/** Calls an operation that is open to everyone; throws with the site's own words. */
async function call(operation, payload) {
  const response = await fetch(`/data/public/${operation}`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ payload }),
  })
  const { ok, data, error } = await response.json()
  if (!ok) throw new Error(error.message)
  return data
}

const greeting = document.getElementById('greeting')
const time = document.getElementById('time')

document.getElementById('hello').addEventListener('submit', async (event) => {
  event.preventDefault()
  const { name } = Object.fromEntries(new FormData(event.target))
  try {
    greeting.textContent = (await call('hello', { name })).message
  } catch (error) {
    greeting.textContent = `This did not work: ${error.message}`
  }
})

call('time').then(
  (answer) => {
    time.dateTime = answer.now
    time.textContent = new Date(answer.now).toLocaleTimeString()
  },
  (error) => {
    time.textContent = `nothing: ${error.message}`
  },
)
