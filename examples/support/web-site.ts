import type { SeededRandom } from "./seeded-random.ts";

/** A small invented web site, and who visits it: what the access-log generator draws from. Nothing here is a real address. */
export const host = "https://riverside.example";

export interface Resource {
  readonly path: string;
  readonly bytes: number;
}

const topics = ["weirs", "locks", "otters", "floods", "mills", "ferries", "springs", "deltas", "bridges", "eels"];
const assets: Resource[] = [
  { path: "/assets/site.css", bytes: 18_412 },
  { path: "/assets/site.js", bytes: 46_220 },
  { path: "/assets/logo.svg", bytes: 2_918 },
  { path: "/favicon.ico", bytes: 3_638 },
];

export interface Page extends Resource {
  /** What a browser loads with it. */
  readonly assets: readonly Resource[];
}

/** In order of popularity. */
export const pages: readonly Page[] = [
  { path: "/", bytes: 9_204, assets: [...assets, { path: "/images/river.jpg", bytes: 148_230 }] },
  ...topics.flatMap((topic, index) => [
    {
      path: `/articles/${topic}/`,
      bytes: 12_000 + 977 * index,
      assets: [...assets, { path: `/images/${topic}.jpg`, bytes: 61_000 + 7_919 * index }],
    },
    { path: `/articles/?tag=${topic}&page=${(index % 3) + 1}`, bytes: 7_300 + 311 * index, assets },
  ]),
  { path: "/about/", bytes: 5_120, assets },
  { path: "/contact/", bytes: 4_410, assets },
];
/** Zipf's law: the k-th page is read 1/k times as often as the first. */
export const pageWeights = pages.map((_, index) => 1 / (index + 1));

export const downloads: readonly Resource[] = [
  { path: "/downloads/river-map.pdf", bytes: 4_718_592 },
  { path: "/downloads/field-guide.pdf", bytes: 11_534_336 },
];
export const feed: Resource = { path: "/feed.xml", bytes: 22_816 };
export const robots: Resource = { path: "/robots.txt", bytes: 164 };
export const goneBytes = 1_245;
export const deadLinks = ["/articles/beavers/", "/old/index.html", "/images/header.gif", "/apple-touch-icon.png"];
export const probes = ["/wp-login.php", "/.env", "/.git/config", "/phpmyadmin/", "/admin/", "/xmlrpc.php"];

export const referrers = [
  "-",
  "https://search.example/",
  "https://news.example/item?id=4711",
  `${host}/`,
  "https://social.example/t/9Zk2",
];
export const referrerWeights = [40, 35, 6, 14, 5];

export const browsers = [
  "Mozilla/5.0 (Windows NT 10.0; Win64; x64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/131.0.0.0 Safari/537.36",
  "Mozilla/5.0 (iPhone; CPU iPhone OS 18_1 like Mac OS X) AppleWebKit/605.1.15 (KHTML, like Gecko) Version/18.1 Mobile/15E148 Safari/604.1",
  "Mozilla/5.0 (Linux; Android 14; Pixel 8) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/131.0.0.0 Mobile Safari/537.36",
  "Mozilla/5.0 (Macintosh; Intel Mac OS X 10_15_7) AppleWebKit/605.1.15 (KHTML, like Gecko) Version/18.1 Safari/605.1.15",
  "Mozilla/5.0 (X11; Linux x86_64; rv:133.0) Gecko/20100101 Firefox/133.0",
];
export const crawlers = [
  "Mozilla/5.0 (compatible; ExampleBot/2.1; +https://search.example/bot)",
  "Mozilla/5.0 (compatible; ArchiveSpider/1.0; +https://archive.example)",
];
export const feedReaders = [
  "FeedFetcher/3.2 (+https://reader.example; 214 subscribers)",
  "NewsBoat/2.36 (Linux x86_64)",
];
export const scanners = ["-", "python-requests/2.32.3", "Go-http-client/1.1", "curl/8.9.1"];
export const monitor = "UptimeProbe/1.4";

/** From the ranges that are reserved for documentation (RFC 5737, RFC 3849). */
export function address(random: SeededRandom): string {
  if (random.chance(0.15))
    return `2001:db8:${random.between(1, 0xffff).toString(16)}::${random.between(1, 0xfff).toString(16)}`;
  return `${random.pick(["192.0.2", "198.51.100", "203.0.113"])}.${random.between(1, 254)}`;
}
