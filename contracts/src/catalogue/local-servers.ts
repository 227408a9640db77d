/** Model servers that people run themselves, and the port each is known for. Free of zod, for the browser. */
export const localServers = [
  { name: 'Ollama', port: 11434 },
  { name: 'LM Studio', port: 1234 },
  { name: 'vLLM', port: 8000 },
  { name: 'llama.cpp', port: 8080 },
] as const;
