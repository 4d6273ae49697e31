const SERVERS = {
  nats: { schemes: ['nats:', 'tls:'], takes: 'takes nats://host:port, several with commas' },
  postgres: { schemes: ['postgres:', 'postgresql:'], takes: 'takes postgres://user:password@host:port/database' },
} as const;

/** What is wrong with the address of a server, without the address itself (it may hold a password); null when it is one. */
export function addressProblem(server: keyof typeof SERVERS, text: string): string | null {
  const { schemes, takes } = SERVERS[server];
  const isUrl = (part: string) => URL.canParse(part) && (server === 'postgres' || new URL(part).hostname !== '');
  const parts = server === 'nats' ? text.split(',').map(natsUrl) : [text];
  const isOne = (part: string) => isUrl(part) && (schemes as readonly string[]).includes(new URL(part).protocol);
  return parts.every(isOne) ? null : takes;
}

/** NATS clients take `host:port` too. */
function natsUrl(part: string): string {
  const trimmed = part.trim();
  return trimmed.includes('://') ? trimmed : `nats://${trimmed}`;
}

/** The environment variable that a value still names, where secrets are optional and it is not set. */
export const unsetVariable = (value: string | undefined): string | null =>
  value?.match(/\$\{([A-Za-z_][A-Za-z0-9_]*)\}/)?.[1] ?? null;
