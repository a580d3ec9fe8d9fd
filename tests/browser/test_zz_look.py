# ruff: noqa
from tests.browser.test_wallet import *
from tests.browser.test_portfolio import fill_portfolio
from pathlib import Path
from PIL import Image
import os


def shoot(tab, base, pages, prefix=""):
    for path in pages:
        tab.go(base + path)
        tab.wait(f"location.href === {base + path!r}")
        pics = []
        for w, d in ((1280, False), (320, True)):
            tab.look(w, 700, dark=d)
            f = Path("/tmp/pages/_y.png")
            tab.picture(f)
            pics.append(Image.open(f).copy())
        s = Image.new("RGB", (sum(p.width for p in pics) + 10, min(2600, max(p.height for p in pics))), "purple")
        x = 0
        for p in pics:
            s.paste(p, (x, 0))
            x += p.width + 10
        s.save("/tmp/pages/look_" + (path.strip("/").replace("/", "_") or "landing") + ".png")


def test_look(tab, world, use):
    shoot(tab, world.url, ["/", "/signin", "/signup"])
    ann = open_account(tab, world)
    today = clock.today()
    fill_portfolio(use)
    ends = {"valid_until": str(today + timedelta(days=40))}
    use(ann, "set_loyalty_status", program="hilton-honors", tier="Gold", progress=12, **ends)
    use(ann, "set_loyalty_status", program="united-mileageplus", tier="Premier Silver", progress=3100, member="Ben")
    use(ann, "set_loyalty_status", program="marriott-bonvoy", tier="Gold", lifetime=True)
    use(ann, "set_loyalty_status", program="world-of-hyatt", tier="Explorist", progress=41)
    use(ann, "set_loyalty_status", program="flying-blue", tier="Gold")
    use(ann, "add_card", card="amex-platinum", opened_on=str(today - timedelta(days=200)))
    shoot(tab, world.url, ["/dashboard/statuses", "/dashboard/deadlines", "/dashboard", "/dashboard/account"])
