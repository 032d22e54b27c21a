"""Sentences of one meaning in English and Chinese, on everything and nothing: what the bundled model's language axis was measured with."""

_PAIRS = (
    ("The meeting was moved to Thursday because the room was taken.", "会议改到了星期四，因为房间已被占用。"),
    ("Water boils at a lower temperature in the mountains.", "山上水的沸点比较低。"),
    ("The company paid back its debts within three years.", "这家公司在三年内还清了债务。"),
    ("She learned to play the violin when she was six.", "她六岁时学会了拉小提琴。"),
    ("Press the button twice to restart the machine.", "按两次按钮即可重新启动机器。"),
    ("The bridge was closed for repairs after the storm.", "暴风雨过后，这座桥因维修而关闭。"),
    ("Most of the guests arrived by train.", "大多数客人是坐火车来的。"),
    ("The law protects the rights of tenants.", "这部法律保护租户的权利。"),
    ("Plants need light, water and minerals to grow.", "植物生长需要光、水和矿物质。"),
    ("The museum was founded in the nineteenth century.", "这座博物馆建于十九世纪。"),
    ("He won the election by a small margin.", "他以微弱优势赢得了选举。"),
    ("The medicine should be taken after meals.", "这种药应在饭后服用。"),
    ("Our team lost the final in the last minute.", "我们队在最后一分钟输掉了决赛。"),
    ("The program reads the file and counts the words.", "程序读取文件并统计词数。"),
    ("Prices rose faster than wages last year.", "去年物价上涨得比工资快。"),
    ("The river flows through four countries into the sea.", "这条河流经四个国家后注入大海。"),
    ("The soldiers crossed the border at night.", "士兵们在夜里越过了边境。"),
    ("Her second novel was translated into ten languages.", "她的第二部小说被翻译成十种语言。"),
    ("The battery lasts about eight hours.", "电池大约可以用八个小时。"),
    ("Children under twelve travel free of charge.", "十二岁以下儿童免费乘车。"),
    ("The disease spreads through contaminated food.", "这种疾病通过受污染的食物传播。"),
    ("The king divided the land among his sons.", "国王把土地分给了他的儿子们。"),
    ("The contract ends on the last day of March.", "合同于三月的最后一天到期。"),
    ("Scientists discovered a new star in that region.", "科学家在那个区域发现了一颗新星。"),
    ("The film tells the story of two brothers.", "这部电影讲述了两兄弟的故事。"),
    ("Turn left at the church and follow the road.", "在教堂左转，然后沿着路走。"),
    ("The university offers courses in law and medicine.", "这所大学开设法律和医学课程。"),
    ("The old town hall burned down in a fire.", "旧市政厅在一场火灾中被烧毁。"),
    ("Please send the signed form to our office.", "请把签好字的表格寄到我们的办公室。"),
    ("Birds of this kind build their nests on cliffs.", "这种鸟在悬崖上筑巢。"),
    ("The album sold a million copies in its first month.", "这张专辑第一个月就卖出了一百万张。"),
    ("The engine must be checked every six months.", "发动机必须每六个月检查一次。"),
    ("Two thirds of the population live in cities.", "三分之二的人口居住在城市。"),
    ("The court rejected the appeal.", "法院驳回了上诉。"),
    ("The sum of the angles in a triangle is fixed.", "三角形内角之和是固定的。"),
    ("The village lies in a valley surrounded by forest.", "村庄坐落在森林环绕的山谷中。"),
    ("The airline cancelled all flights in the morning.", "航空公司取消了上午的所有航班。"),
    ("Rice is the main crop of the region.", "水稻是该地区的主要作物。"),
    ("The teacher explained why the sky is blue.", "老师解释了天空为什么是蓝色的。"),
    ("The password must contain at least one digit.", "密码必须至少包含一个数字。"),
)
_SENTENCES = (
    5  # of a paragraph: single sentences lie along another line (cosine .70), and it finds less (decision 0065)
)

PARAGRAPHS = tuple(_PAIRS[start : start + _SENTENCES] for start in range(0, len(_PAIRS), _SENTENCES))
ENGLISH = tuple(" ".join(english for english, _ in paragraph) for paragraph in PARAGRAPHS)
CHINESE = tuple("".join(chinese for _, chinese in paragraph) for paragraph in PARAGRAPHS)
