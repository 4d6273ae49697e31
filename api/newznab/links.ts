import type { ReleaseId } from '../../streams/ids.ts';

/** The addresses of one release as the client that asks can reach them. The same request gives the same addresses. */
export interface Links {
  readonly page: (id: ReleaseId) => string;
  readonly download: (id: ReleaseId) => string;
  readonly home: string;
}

export function linksFor(baseUrl: string, apiKey: string): Links {
  const base = baseUrl.replace(/\/+$/, '');
  return {
    home: `${base}/`,
    page: (id) => `${base}/details/${id}`,
    download: (id) => `${base}/api?t=get&id=${id}&apikey=${encodeURIComponent(apiKey)}`,
  };
}
