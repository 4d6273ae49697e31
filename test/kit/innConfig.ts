/** What the configuration of a test INN depends on. All paths are absolute. */
export interface InnLayout {
  readonly folder: string;
  readonly bin: string;
  readonly user: string;
  readonly feedPort: number;
  readonly storage: 'tradspool' | 'cnfs';
  /** False: overview lines without articles behind them are served too. */
  readonly checkArticles: boolean;
}

/** Folders below `folder` that INN expects, all owned by its user. */
export const INN_FOLDERS: readonly string[] = [
  'etc/filter',
  'db',
  'run',
  'log/OLD',
  'overview',
  'spool/articles',
  'spool/archive',
  'spool/incoming/bad',
  'spool/incoming/tmp',
  'spool/outgoing',
  'http',
  'tls',
  'cycbuff',
];

/** innd dies without these three groups. */
export const INN_CONTROL_GROUPS: readonly string[] = ['control', 'control.cancel', 'junk'];

/** A buffer this large holds every test's articles; the file is sparse. */
export const CNFS_KIB = 1_048_576;
export const cnfsBuffer = (folder: string): string => `${folder}/cycbuff/one`;

const paths = (folder: string): string => `tlscafile: ${folder}/tls/cert.pem
tlscapath: ${folder}/tls
tlscertfile: ${folder}/tls/cert.pem
tlskeyfile: ${folder}/tls/key.pem
pathdb: ${folder}/db
pathetc: ${folder}/etc
pathfilter: ${folder}/etc/filter
pathhttp: ${folder}/http
pathlog: ${folder}/log
pathrun: ${folder}/run
pathspool: ${folder}/spool
patharchive: ${folder}/spool/archive
patharticles: ${folder}/spool/articles
pathincoming: ${folder}/spool/incoming
pathoutgoing: ${folder}/spool/outgoing
pathtmp: ${folder}/spool/incoming/tmp
pathoverview: ${folder}/overview
`;

/**
 * inn.conf. `artcutoff: 0` takes articles of any age; `nnrpdloadlimit: 0` and the long `initialtimeout` keep a busy
 * machine from refusing readers; `maxcmdreadsize: 0` and the raised sizes let 10 MB articles in.
 */
const innConf = (layout: InnLayout): string => `mta: "/bin/true %s"
domain: kit.test
fromhost: kit.test
pathhost: kit.test
server: 127.0.0.1
runasuser: ${layout.user}
runasgroup: ${layout.user}
hismethod: hisv6
enableoverview: true
ovmethod: tradindexed
wireformat: true
port: ${layout.feedPort}
bindaddress: 127.0.0.1
sourceaddress: 127.0.0.1
artcutoff: 0
maxartsize: 10000000
localmaxartsize: 10000000
maxconnections: 200
maxcmdreadsize: 0
icdsynccount: 1000
rlimitnofile: -1
nnrpdcheckart: ${layout.checkArticles}
nnrpdloadlimit: 0
nnrpdoverstats: false
clienttimeout: 1800
initialtimeout: 60
doinnwatch: false
pgpverify: false
docancels: none
allownewnews: true
pathnews: /usr/lib/news
pathbin: ${layout.bin}
pathcontrol: ${layout.bin}/control
${paths(layout.folder)}`;

const authBlock = (layout: InnLayout): string => `auth "account" {
  hosts: "127.0.0.1, ::1"
  auth: "${layout.bin}/auth/passwd/ckpasswd -f ${layout.folder}/etc/users"
}
`;
const ANONYMOUS = 'auth "anon" {\n  hosts: "127.0.0.1, ::1"\n  default: "<anon>"\n}\n';
/** R read, P post, A post to moderated groups, N newnews. */
const ACCESS = 'access "all" {\n  users: "*"\n  newsgroups: "*"\n  access: RPAN\n}\n';

const storageFiles = (layout: InnLayout): Record<string, string> =>
  layout.storage === 'tradspool'
    ? { 'storage.conf': 'method tradspool {\n  newsgroups: *\n  class: 0\n}\n' }
    : {
        'storage.conf': 'method cnfs {\n  newsgroups: *\n  class: 0\n  options: META\n}\n',
        'cycbuff.conf':
          'cycbuffupdate:1000\nrefreshinterval:1\n' +
          `cycbuff:ONE:${cnfsBuffer(layout.folder)}:${CNFS_KIB}\nmetacycbuff:META:ONE\n`,
      };

const EMPTY = [
  'moderators',
  'distrib.pats',
  'distributions',
  'passwd.nntp',
  'nnrpd.track',
  'subscriptions',
  'localgroups',
  'inn-secrets.conf',
];

/** Name below `etc/` -> content of every configuration file that innd and nnrpd read. */
export function innConfiguration(layout: InnLayout): Record<string, string> {
  return {
    ...Object.fromEntries(EMPTY.map((name) => [name, ''])),
    ...storageFiles(layout),
    'inn.conf': innConf(layout),
    newsfeeds: 'ME:*::\nnull:!*:Tf:null\n',
    'incoming.conf': 'streaming: true\nmax-connections: 100\npeer localfeeder {\n  hostname: "127.0.0.1"\n}\n',
    'control.ctl': 'all:*:*:drop\n',
    'expire.ctl': '*:A:1:10:never\n/remember/:10\n',
    'readers.conf': ANONYMOUS + authBlock(layout) + ACCESS,
    'readers-auth.conf': authBlock(layout) + ACCESS,
  };
}
