import type { LivePage } from "../../../src/platform/web/live-page.ts";
import type { PageContent } from "../../../src/platform/web/page-shell.ts";

/** The content of one page, as a browser gets it with these parameters. */
export async function pageContent(
  pages: readonly LivePage[],
  path: string,
  view: { readonly query?: string; readonly params?: Readonly<Record<string, string>> } = {},
): Promise<PageContent> {
  const page = pages.find((one) => one.path === path);
  if (page === undefined) throw new Error(`there is no page ${path}`);
  return page.content({ params: view.params ?? {}, query: new URLSearchParams(view.query) });
}

/** All sections of the pages that stand in the navigation, by id, and the title of the first page. */
export async function navigablePages(pages: readonly LivePage[]) {
  const named = pages.filter(({ name }) => name !== undefined);
  const contents = await Promise.all(named.map(({ path }) => pageContent(pages, path)));
  const sections = contents.flatMap((content) => content.sections);
  const texts = new Map(sections.map(({ id, content }) => [id, content.text]));
  return {
    title: contents[0]?.title ?? "",
    part: (id: string): string => texts.get(id) ?? "",
    all: [...texts.values()].join(""),
  };
}

/** All sections of some pages, by their paths, joined. Their contents must not wait for anything. */
export function pagesText(
  pages: readonly LivePage[],
  paths: readonly string[],
  params: Readonly<Record<string, string>> = {},
): string {
  return paths
    .flatMap((path) => {
      const content = pages
        .find((one) => one.path === path)
        ?.content({ params, query: new URLSearchParams() });
      if (content === undefined || content instanceof Promise) throw new Error(`no content of ${path}`);
      return content.sections.map((section) => section.content.text);
    })
    .join("");
}
